import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { ChainUnavailable } from "../../../api/chain/errors.ts";
import { READS_AT_ONCE, createForeignContracts } from "../../../api/chain/foreign.ts";
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

  const foreign = () => createForeignContracts(new ChainClient(node.url), 100_000);

  const reads: [string, () => Promise<readonly unknown[]>, (found: unknown) => void][] = [
    [
      "types",
      () => foreign().inspect(Array.from({ length: MANY }, randomAddress), abort.signal),
      (found) => expect(found).to.be.instanceOf(ChainUnavailable),
    ],
    [
      "balances",
      () => {
        const token = { type: "ERC721", tokenId: "1", owner: randomAddress() } as const;
        const queries = Array.from({ length: MANY }, () => ({ contract: randomAddress(), ...token }));
        return foreign().holdings(queries, abort.signal);
      },
      (found) => expect(found).to.equal(undefined),
    ],
  ];
  for (const [what, read, expectUnknown] of reads) {
    it(`of their ${what}: a few at a time, and none after the abort`, async () => {
      const reading = read();
      await all.promise;
      abort.abort();
      const found = await reading;
      expect(found).to.have.length(MANY);
      found.forEach(expectUnknown);
      expect(exchanges).to.equal(READS_AT_ONCE);
    });
  }
});

describe("reads of contracts of others", () => {
  let node: FakeRpc;
  afterEach(() => node.stop());

  const foreign = () => createForeignContracts(new ChainClient(node.url), 100_000);

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
});
