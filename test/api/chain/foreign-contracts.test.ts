import { expect } from "chai";

import { abi } from "../../../api/chain/abi.ts";
import { ChainClient } from "../../../api/chain/client.ts";
import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { READS_AT_ONCE, createForeignContracts } from "../../../api/chain/foreign.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { randomAddress } from "../support/rows.ts";

const MANY = 1_000;

describe("reads of 1,000 contracts of others that never answer", () => {
  let node: FakeRpc;
  let abort: AbortController;
  let exchanges: number;
  /** Resolves when as many exchanges are open as there may be. */
  let all: PromiseWithResolvers<null>;
  beforeEach(async () => {
    node = await startFakeRpc(() => "0x");
    exchanges = 0;
    all = Promise.withResolvers();
    node.raw = (calls, response) => {
      if (calls.every(({ method }) => method === "eth_getCode")) {
        const answers = calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x60" }));
        response.setHeader("content-type", "application/json").end(JSON.stringify(answers));
        return;
      }
      exchanges += 1;
      if (exchanges === READS_AT_ONCE) all.resolve(null);
    };
    abort = new AbortController();
  });
  afterEach(() => node.stop());

  const foreign = () => createForeignContracts(new ChainClient(new Rpc(node.url)), 100_000);

  it("of their types: a few at a time, and none after the abort", async () => {
    const addresses = Array.from({ length: MANY }, randomAddress);
    const inspected = foreign().inspect(addresses, abort.signal);
    await all.promise;
    abort.abort();
    const found = await inspected;
    expect(found).to.have.length(MANY);
    for (const one of found) expect(one).to.be.instanceOf(ChainUnavailable);
    expect(exchanges).to.equal(READS_AT_ONCE);
  });

  it("of their balances: a few at a time, and none after the abort", async () => {
    const owner = randomAddress();
    const queries = Array.from({ length: MANY }, () => {
      return { contract: randomAddress(), type: "ERC721", tokenId: "1", owner } as const;
    });
    const held = foreign().holdings(queries, abort.signal);
    await all.promise;
    abort.abort();
    expect(new Set(await held)).to.deep.equal(new Set([undefined]));
    expect(exchanges).to.equal(READS_AT_ONCE);
  });
});

describe("reads of contracts of others", () => {
  let node: FakeRpc;
  afterEach(() => node.stop());

  const foreign = () => createForeignContracts(new ChainClient(new Rpc(node.url)), 100_000);

  it("asks for the code of all addresses at once, and calls only contracts", async () => {
    const contract = randomAddress().toLowerCase();
    const ofContract = (params: unknown[]) => JSON.stringify(params).toLowerCase().includes(contract);
    node = await startFakeRpc(({ method, params }) => (method === "eth_getCode" && ofContract(params) ? "0x60" : "0x"));
    let exchanges = 0;
    const { calls } = node;
    const addresses = [contract, ...Array.from({ length: 99 }, randomAddress)];
    await foreign().inspect(addresses, AbortSignal.timeout(60_000));
    for (const { method, params } of calls) {
      if (method === "eth_getCode") exchanges += 1;
      else if (!ofContract(params))
        expect(JSON.stringify(params)).to.contain("0x0000000000000000000000000000000000000004");
    }
    expect(exchanges).to.equal(addresses.length);
    expect(calls.slice(0, addresses.length).every(({ method }) => method === "eth_getCode")).to.equal(true);
  });

  it("reads the other tokens of a contract after ten that need too much gas", async () => {
    const [contract, owner] = [randomAddress(), randomAddress()];
    node = await startFakeRpc(({ params }) => {
      const { data = "", input = data } = params[0] as { data?: string; input?: string };
      if (input === "0x6d6f6e657461") return input;
      const tokenId = BigInt(`0x${input.slice(-64)}`);
      return tokenId < 10n
        ? { error: { code: -32000, message: "out of gas", data: "0x" } }
        : `0x${"5".padStart(64, "0")}`;
    });
    const queries = Array.from({ length: 25 }, (_, index) => {
      return { contract, type: "ERC1155", tokenId: index.toString(), owner } as const;
    });
    const held = await foreign().holdings(queries, AbortSignal.timeout(60_000));
    expect(held.slice(10)).to.deep.equal(Array.from({ length: 15 }, () => 5n));
    expect(held[0]).to.not.equal(5n);
  });

  it("encodes questions about balances as ethers does", async () => {
    const asked: unknown[] = [];
    node = await startFakeRpc(({ params }) => {
      asked.push((params[0] as { data: string }).data);
      return "0x";
    });
    const [owner, contract] = [randomAddress(), randomAddress()];
    const tokenId = (2n ** 256n - 1n).toString();
    for (const type of ["ERC721", "ERC1155"] as const)
      await foreign().holdings([{ contract, type, tokenId, owner }], AbortSignal.timeout(60_000));
    expect(asked).to.include.members([
      abi.erc721.encodeFunctionData("ownerOf", [tokenId]),
      abi.erc1155.encodeFunctionData("balanceOf", [owner, tokenId]),
    ]);
  });
});
