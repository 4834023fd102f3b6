import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { MissingCosts, recordMissingCosts } from "../../../api/indexer/costs.ts";
import { batchesWithoutCost } from "../../../api/store/requests/costs.ts";
import { FaultyNode } from "../../../scripts/scene/faulty-node.ts";
import type { TestDatabase } from "../../support/database.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { apply, batchOf } from "../support/blocks.ts";
import { openLedger } from "../support/ledger.ts";
import { addRequest, hashOf, requestRow } from "../support/rows.ts";

const BLOCK = 1;

describe("recordMissingCosts", () => {
  let database: TestDatabase;
  let node: FakeRpc;
  let id: string;

  beforeEach(async () => {
    database = await openLedger();
    ({ id } = await addRequest(database, { kind: "announce-metadata", collection: "0x", tokenId: null }));
    const { batchId, requests } = await batchOf(database, [id]);
    const ok = { ok: true, collection: null, tokenId: null } as const;
    const outcomes = requests.map((request) => ({ request, outcome: ok }));
    const mined = { batchId, transactionHash: hashOf("batch 0"), blockNumber: BLOCK, timestamp: 1, outcomes };
    await apply(database, { block: BLOCK, batches: [{ ...mined, untouched: [] }] });
    node = await startFakeRpc(() => null);
  });
  afterEach(async () => {
    await node.stop();
    await database.remove();
  });

  const record = () => {
    const client = new ChainClient(node.url);
    return recordMissingCosts({ database, client, now: () => 1 });
  };
  it("asks a node that never has the receipt more and more rarely", async () => {
    const client = new ChainClient(node.url);
    const costs = new MissingCosts();
    for (let step = 0; step < 50; step++) await costs.record({ database, client, now: () => 1 });
    expect(node.calls).to.have.length(1);
  });

  const receipt = (fields: object = {}) => ({
    blockNumber: "0x1",
    blockHash: hashOf(`main ${BLOCK.toString()}`),
    status: "0x1",
    gasUsed: "0x5208",
    effectiveGasPrice: "0x2",
    ...fields,
  });

  describe("given several nodes", () => {
    const faulty: FaultyNode[] = [];
    let nodes: Nodes;
    const lines: object[] = [];

    async function open(count: number): Promise<ChainClient> {
      while (faulty.length < count) faulty.push(await FaultyNode.start(node.url));
      const log = (fields: object) => lines.push(fields);
      nodes = new Nodes(
        faulty.map(({ url }) => url),
        { readOnly: [], floor: () => Promise.resolve(0), logger: { warn: log, info: log } },
      );
      return new ChainClient(nodes);
    }
    const recordWith = (client: ChainClient) => recordMissingCosts({ database, client, now: () => 1 });
    const lies = { kind: "invents-costs", gasUsed: "0x1" } as const;

    beforeEach(() => {
      lines.length = 0;
      // Each node is asked for its newest block after a while.
      node.answer = ({ method }) => (method === "eth_blockNumber" ? "0x64" : receipt());
    });
    afterEach(async () => {
      nodes.stop();
      for (const one of faulty.splice(0)) await one.stop();
    });

    it("asks two for each, and takes what both tell", async () => {
      const client = await open(3);
      const before = node.calls.length;
      expect(await recordWith(client)).to.equal(0);
      const asked = node.calls.slice(before).filter(({ method }) => method !== "eth_blockNumber");
      expect(asked).to.have.length(2);
      expect(await requestRow(database, id)).to.include({ gas_used: 21_000, fee_wei: "42000" });
    });

    for (const liar of [0, 1]) {
      it(`takes neither of two that differ, until they agree (${liar.toString()})`, async () => {
        const client = await open(2);
        Object.assign(faulty[liar] ?? {}, { fault: lies });
        expect([await recordWith(client), await recordWith(client)]).to.deep.equal([1, 1]);
        expect(await requestRow(database, id)).to.include({ gas_used: null, fee_wei: null });
        expect(lines).to.deep.equal([{ transactions: [hashOf("batch 0")] }]);
        Object.assign(faulty[liar] ?? {}, { fault: null });
        expect(await recordWith(client)).to.equal(0);
        expect(await requestRow(database, id)).to.include({ gas_used: 21_000, fee_wei: "42000" });
      });

      it(`takes what two of three tell (${liar.toString()})`, async () => {
        const client = await open(3);
        Object.assign(faulty[liar] ?? {}, { fault: lies });
        expect(await recordWith(client)).to.equal(0);
        expect(await requestRow(database, id)).to.include({ gas_used: 21_000, fee_wei: "42000" });
        expect(lines).to.deep.equal([]);
      });
    }

    it("takes the word of one while the others are dead", async () => {
      const client = await open(2);
      Object.assign(faulty[1] ?? {}, { fault: { kind: "dead" } });
      expect(await recordWith(client)).to.equal(0);
    });
  });

  it("takes no receipt of another block", async () => {
    for (const fields of [
      { blockNumber: "0x2" },
      { blockHash: hashOf("fork 1") },
      { gasUsed: `0x${"f".repeat(20)}` },
    ]) {
      node.answer = () => receipt(fields);
      await record();
      expect(await requestRow(database, id)).to.include({ gas_used: null, fee_wei: null });
    }
    expect(await batchesWithoutCost(database.read, 10)).to.deep.equal([
      { batchId: 1, blockNumber: BLOCK, hashes: [hashOf("batch 0")] },
    ]);
  });
});
