import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { createForeignContracts, readHoldings } from "../../../api/chain/foreign.ts";
import { type FakeRpc, type RpcFailure, startFakeRpc } from "../../support/fake-rpc.ts";
import { randomAddress } from "../support/rows.ts";

const GAS = 100_000;
const CONTROL = "0x0000000000000000000000000000000000000004";
function fail(code: number, data?: unknown): RpcFailure {
  return { error: { code, message: "?", ...(data === undefined ? {} : { data }) } };
}

describe("ChainClient", () => {
  let node: FakeRpc;
  let client: ChainClient;

  beforeEach(async () => {
    node = await startFakeRpc(() => "0x");
    client = new ChainClient(node.url);
  });
  afterEach(() => node.stop());

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it answered"),
      (error: unknown) => error,
    );
  const target = randomAddress();
  /** `control`: whether the node has the state at all. */
  function answerCalls(answer: unknown, control: boolean) {
    node.answer = ({ params }) => {
      const { to, data } = params[0] as { to: string; data: string };
      if (to === CONTROL) return control ? data : fail(-32000);
      return answer;
    };
  }

  describe("tryCalls", () => {
    const cases: [string, unknown, boolean, string | null | undefined][] = [
      ["a result", "0x01", true, "0x01"],
      ["a revert by the execution API's code", fail(3), true, null],
      ["a revert by Nethermind's code", fail(-32015), true, null],
      ["a revert by its data", fail(-32603, { data: "0x08c379a0" }), true, null],
      ["a failure that Geth gives no data for, by a node that has the state", fail(-32000), true, null],
      ["the same by a node that lacks the state", fail(-32000), false, undefined],
      ["a rate limit", fail(-32005), true, undefined],
    ];
    for (const [what, answer, control, expected] of cases) {
      it(`treats ${what} as ${expected === undefined ? "unknown" : expected === null ? "a revert" : "the result"}`, async () => {
        answerCalls(answer, control);
        expect(await client.tryCalls([{ to: target, data: "0x12" }], 5)).to.deep.equal([expected]);
      });
    }
  });

  describe("readHoldings", () => {
    const query = { contract: target, type: "ERC721" as const, tokenId: "1", owner: randomAddress() };
    const word = (text: string) => `0x${text.padStart(64, "0")}`;

    it("does not report a missing token when the node lacks the state of the block", async () => {
      answerCalls(fail(-32000), false);
      expect(await readHoldings(client, [query], { gas: GAS, block: 5 })).to.deep.equal([undefined]);
      const foreign = createForeignContracts(client, GAS);
      expect(await foreign.holdings([query], new AbortController().signal)).to.deep.equal([undefined]);
    });

    it("ignores answers of the wrong length, and recognises other owners", async () => {
      const owner = query.owner.slice(2).toLowerCase();
      const read = async (answer: unknown, type: "ERC721" | "ERC1155" = "ERC721") => {
        answerCalls(answer, true);
        return (await readHoldings(client, [{ ...query, type }], { gas: GAS }))[0];
      };
      expect(await read(word(owner))).to.equal(1n);
      expect(await read(word(randomAddress().slice(2)))).to.equal(0n);
      expect([
        await read("0x"),
        await read(`${word(owner)}00`),
        await read(word("0")),
        await read(fail(3)),
      ]).to.deep.equal([null, null, null, null]);
      expect(await read(`0x${"f".repeat(64)}`, "ERC1155")).to.equal(2n ** 256n - 1n);
      expect([await read("0x", "ERC1155"), await read(fail(3), "ERC1155")]).to.deep.equal([0n, 0n]);
    });
  });

  describe("inspect", () => {
    const yes = `0x${"1".padStart(64, "0")}`;
    const inspect = (answers: (selector: string, id: string) => unknown, code = "0x60") => {
      node.answer = ({ method, params }) => {
        if (method === "eth_getCode") return code;
        const { to, data } = params[0] as { to: string; data: string };
        return to === CONTROL ? data : answers(data.slice(0, 10), data.slice(10, 18));
      };
      return createForeignContracts(client, GAS)
        .inspect([target], new AbortController().signal)
        .then(([found]) => found);
    };
    const name = (text: Buffer) =>
      `0x${"20".padStart(64, "0")}${text.length.toString(16).padStart(64, "0")}${text.toString("hex").padEnd(Math.ceil(text.length / 32) * 64, "0")}`;
    const erc721 = (text: unknown) => (selector: string, id: string) =>
      selector === "0x06fdde03" ? text : ["01ffc9a7", "80ac58cd"].includes(id) ? yes : `0x${"0".repeat(64)}`;

    it("cuts a huge name, and ignores one that is not a string", async () => {
      expect(await inspect(erc721(name(Buffer.from("é".repeat(100_000)))))).to.deep.equal({
        type: "ERC721",
        name: "é".repeat(256),
      });
      expect(await inspect(erc721(name(Buffer.from([0xff, 0xfe]))))).to.deep.equal({ type: "ERC721", name: null });
      expect(await inspect(erc721(name(Buffer.from("a\0b"))))).to.deep.equal({ type: "ERC721", name: "a\ufffdb" });
      expect(await inspect(erc721(fail(3)))).to.deep.equal({ type: "ERC721", name: null });
    });

    it("rejects a contract that reverts or supports every interface, an account without code, and a delegated wallet", async () => {
      expect(await inspect(() => fail(3))).to.equal(null);
      expect(await inspect(() => yes)).to.equal(null);
      expect(await inspect(erc721("0x"), "0x")).to.equal(null);
      expect(await inspect(erc721("0x"), `0xef0100${target.slice(2)}`)).to.equal(null);
    });

    it("returns ChainUnavailable when the node cannot run the calls", async () => {
      expect(await inspect(() => fail(-32005))).to.be.instanceOf(ChainUnavailable);
    });
  });

  describe("simulateCalls", () => {
    const result = async () =>
      (await client.simulateCalls([{ to: target, data: "0x", from: target }], 7, 4_000_000))[0];

    it("returns the gas on top of the given block, up to the gas limit", async () => {
      node.answer = ({ params: [call, block] }) =>
        block === "0x7" && (call as { gas: string }).gas === "0x3d0900" ? "0x5208" : fail(3);
      expect(await result()).to.deep.equal({ gas: 21_000n });
    });

    it("reports a revert only if the node reports one", async () => {
      const reverts: [number, unknown, string][] = [
        [3, "0x08c379a0", "0x08c379a0"],
        [-32603, { message: "reverted", data: "0x08c379a0" }, "0x08c379a0"],
        [3, "0x", "0x"],
        [3, undefined, "0x"],
        [-32015, undefined, "0x"],
      ];
      for (const [code, data, reverted] of reverts) {
        node.answer = () => ({ error: { code, message: "?", data } });
        expect(await result(), JSON.stringify([code, data])).to.deep.equal({ reverted });
      }
    });

    it("returns null for any other error of the node", async () => {
      const refusals: [number, unknown][] = [
        [-32000, undefined],
        [-32603, undefined],
        [-32005, undefined],
        [-39999, "0x"],
        [-32000, "0xnot hexadecimal"],
      ];
      for (const [code, data] of refusals) {
        node.answer = () => ({ error: { code, message: "?", data } });
        expect(await result(), JSON.stringify([code, data])).to.equal(null);
      }
    });
  });

  describe("given an answer that is not valid", () => {
    it("throws ChainUnavailable", async () => {
      for (const value of [null, 5, "0x", "0xzz", "latest", {}, [], "0x20000000000000"]) {
        node.answer = () => value;
        expect(await failure(client.headNumber()), JSON.stringify(value)).to.be.instanceOf(ChainUnavailable);
      }
      node.answer = () => ({ number: "0x1" });
      expect(await failure(client.blocks([1]))).to.be.instanceOf(ChainUnavailable);
      node.answer = () => null;
      expect(await client.blocks([1])).to.deep.equal([null]);
      expect(await client.receipts([`0x${"1".repeat(64)}`])).to.deep.equal([null]);
    });
  });
});
