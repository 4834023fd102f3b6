import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { createReceiverReads } from "../../../api/chain/receivers.ts";
import { ProgrammableReceiver__factory } from "../../../types/ethers-contracts/factories/mocks/ProgrammableReceiver__factory.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { randomAddress } from "../support/rows.ts";

const GAS = 1_000_000;
const HOOK = "0x150b7a02";
const ACCEPTED = HOOK.padEnd(66, "0");

interface Call {
  from?: string;
  to?: string;
  gas?: string;
  data?: string;
}

describe("createReceiverReads", () => {
  const relay = randomAddress();
  const token = { contract: randomAddress(), type: "ERC721", tokenId: 7n } as const;
  let node: FakeRpc;
  let abort: AbortController;
  beforeEach(async () => {
    abort = new AbortController();
    node = await startFakeRpc(({ method, params }) =>
      method === "eth_getCode" ? "0x60" : answerOf(params[0] as Call),
    );
  });
  afterEach(() => node.stop());

  /** The answers of receivers; the others accept. */
  const hooks = new Map<string, unknown>();
  afterEach(() => {
    hooks.clear();
  });
  function answerOf({ to = "", data = "" }: Call): unknown {
    if (data.startsWith(HOOK)) return hooks.get(to) ?? ACCEPTED;
    return data;
  }

  const reads = () => createReceiverReads(new ChainClient(node.url), { relay, gas: GAS });
  const read = (addresses: string[]) => reads().read(token, addresses, abort.signal);
  const hookCalls = () =>
    node.calls.flatMap(({ params }) => {
      const call = params[0] as Call;
      return call.data?.startsWith(HOOK) === true ? call : [];
    });

  it("calls the hook as the collection would when the relay mints, with a gas limit", async () => {
    const receivers = [randomAddress(), randomAddress()];
    await read(receivers);
    const abi = ProgrammableReceiver__factory.createInterface();
    const zero = `0x${"0".repeat(40)}`;
    const data = abi.encodeFunctionData("onERC721Received", [relay, zero, 7n, "0x"]);
    expect(hookCalls()).to.deep.equal(
      receivers.map((to) => ({ from: token.contract, to, data, gas: `0x${GAS.toString(16)}` })),
    );
    await reads().read({ ...token, type: "ERC1155" }, receivers, abort.signal);
    expect((node.calls.at(-1)?.params[0] as Call).data).to.equal(
      abi.encodeFunctionData("onERC1155Received", [relay, zero, 7n, 1n, "0x"]),
    );
  });

  it("gives the answers of the others when one receiver answers megabytes", async () => {
    const receivers = Array.from({ length: 10 }, randomAddress);
    hooks.set(receivers[3] ?? "", ACCEPTED.padEnd(4_000_000, "0"));
    const found = await read(receivers);
    expect(found.map(({ accepts }) => accepts)).to.deep.equal(receivers.map((_, index) => index !== 3));
    expect(found[3]?.reason).to.match(/or answers too many bytes/);
  });

  it("accepts only the exact word of the standard", async () => {
    const words = ["0x", HOOK, `0x${"0".repeat(24)}${HOOK.slice(2).padEnd(40, "0")}`, `${HOOK}${"0".repeat(55)}1`];
    const receivers = words.map((word) => {
      const address = randomAddress();
      hooks.set(address, word);
      return address;
    });
    expect((await read(receivers)).map(({ accepts }) => accepts)).to.deep.equal([false, false, false, false]);
  });

  it("says nothing of receivers that were not read before the abort", async () => {
    const asked = Promise.withResolvers<null>();
    node.raw = (calls, response) => {
      if (calls[0]?.method !== "eth_getCode") {
        asked.resolve(null);
        return;
      }
      const answers = calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x60" }));
      response.setHeader("content-type", "application/json").end(JSON.stringify(answers));
    };
    const reading = read([randomAddress()]);
    await asked.promise;
    abort.abort();
    expect(await reading).to.deep.equal([{ is: "contract", delegate: null, accepts: null, reason: null }]);
  });
});
