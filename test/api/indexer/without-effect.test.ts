import { expect } from "chai";
import { computeAddress, type SigningKey } from "ethers";
import pino from "pino";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { signTransaction } from "../../../api/chain/transaction.ts";
import { closeBatchesWithoutEffect } from "../../../api/indexer/without-effect.ts";
import { insertAttempt, openBatches } from "../../../api/store/sending/batches.ts";
import type { TestDatabase } from "../../support/database.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { logLines } from "../../support/log-lines.ts";
import { testKeys } from "../../support/test-keys.ts";
import { apply, batchOf } from "../support/blocks.ts";
import { openLedger } from "../support/ledger.ts";
import { addCollection, addRequest, randomAddress, requestRow } from "../support/rows.ts";
import { indexerContext } from "./support/context.ts";

const FINAL = 5;

function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

describe("closeBatchesWithoutEffect", () => {
  let database: TestDatabase;
  let node: FakeRpc;
  let id: string;
  let batch: Awaited<ReturnType<typeof batchOf>>;

  beforeEach(async () => {
    database = await openLedger();
    const collection = await addCollection(database);
    ({ id } = await addRequest(database, { kind: "mint-erc721", collection, to: randomAddress(), metadata: null }));
    batch = await batchOf(database, [id]);
    node = await startFakeRpc(() => null);
  });
  afterEach(async () => {
    await node.stop();
    await database.remove();
  });

  const close = (
    client = new ChainClient(node.url),
    { logger = pino({ level: "silent" }), warned = new Map<number, number>() } = {},
  ) => {
    return closeBatchesWithoutEffect(indexerContext(database, { client, logger }), warned, FINAL);
  };
  /** The node's answers: the lane's nonce is used now, and the arguments set the state at the final block. */
  function says({ receipt = null as object | null, usedThen = "0x1" as unknown, consumed = false }): void {
    node.answer = ({ method, params }) => {
      if (method === "eth_getTransactionReceipt") return receipt;
      if (method === "eth_getTransactionCount") return params[1] === "latest" ? "0x1" : usedThen;
      return word(consumed ? 1 : 0);
    };
  }
  const tooOld = { error: { code: -32_000, message: "missing trie node" } };
  const reverted = (blockNumber: number) => ({
    blockNumber: `0x${blockNumber.toString(16)}`,
    blockHash: word(1),
    status: "0x0",
    gasUsed: "0x1",
  });

  it("closes a batch that reverted in a final block, even if the node no longer has the state of that block", async () => {
    says({ receipt: reverted(FINAL), usedThen: tooOld });
    await close();
    expect(await openBatches(database.read)).to.deep.equal([]);
    expect(await requestRow(database, id)).to.include({ batch_id: null, ready_at: 0 });
  });

  it("leaves a batch open while another node says nothing of a revert, and logs that once a minute", async () => {
    says({ receipt: reverted(FINAL) });
    const other = await startFakeRpc(({ method }) => (method === "eth_getTransactionReceipt" ? null : "0x64"));
    const { logger, lines } = logLines();
    const nodes = new Nodes([node.url, other.url], { readOnly: [], floor: () => Promise.resolve(0), logger });
    try {
      const warned = new Map<number, number>();
      for (let step = 0; step < 3; step++) await close(new ChainClient(nodes), { logger, warned });
      expect(await openBatches(database.read)).to.have.length(1);
      expect(lines.map(({ msg }) => msg)).to.deep.equal([
        "another node does not say that a batch ran no call: the batch stays open until it does",
      ]);
    } finally {
      nodes.stop();
      await other.stop();
    }
  });

  it("fails a request whose transaction is refused only when a second node has the empty one, too", async () => {
    const signed = (key: SigningKey, data: string) => ({
      ...signTransaction(key, {
        ...{ chainId: 1n, nonce: 0, to: computeAddress(key.publicKey), data, gasLimit: 21_000n, authorizations: [] },
        ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      }),
      ...{ gasLimit: 21_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    });
    const { laneKey } = await testKeys();
    const [calls, empty] = [signed(laneKey, "0x01"), signed(laneKey, "0x")];
    await database.write(async (trx) => {
      await trx.updateTable("attempts").set({ raw: calls.raw, answer: "refused" }).execute();
      await insertAttempt(trx, batch.batchId, empty, 1, 1);
    });
    const receipt = { ...reverted(FINAL), status: "0x1" };
    const answer: FakeRpc["answer"] = ({ method, params }) => {
      if (method === "eth_getTransactionReceipt") return params[0] === empty.hash ? receipt : null;
      return method === "eth_getTransactionCount" ? "0x1" : "0x64";
    };
    node.answer = answer;
    const other = await startFakeRpc(answer);
    other.raw = (_calls, response) => response.destroy();
    const { logger } = logLines();
    const nodes = new Nodes([node.url, other.url], { readOnly: [], floor: () => Promise.resolve(0), logger });
    try {
      const client = new ChainClient(nodes);
      await close(client);
      await close(client);
      expect(await requestRow(database, id)).to.include({ status: "processing" });
      other.raw = null;
      await nodes.examine();
      await close(client);
      expect(await requestRow(database, id)).to.include({ status: "failed" });
    } finally {
      nodes.stop();
      await other.stop();
    }
  });

  it("charges the requests what the reverted transaction cost, and what a rollup charged for its data", async () => {
    const fee = { effectiveGasPrice: "0x5", l1Fee: "0x7" };
    says({ receipt: { ...reverted(FINAL), gasUsed: "0x5208", ...fee }, usedThen: tooOld });
    await close();
    expect(await requestRow(database, id)).to.include({ gas_used: 21_000, fee_wei: "105007", status: "processing" });
  });

  it("leaves the cost open where the node's receipt has no fee, or one that nobody pays", async () => {
    for (const effectiveGasPrice of [undefined, `0x${"f".repeat(40)}`]) {
      says({ receipt: { ...reverted(FINAL), effectiveGasPrice }, usedThen: tooOld });
      await close();
      expect(await openBatches(database.read)).to.deep.equal([]);
      expect(await requestRow(database, id)).to.include({ gas_used: null, fee_wei: null });
    }
  });

  it("leaves a batch open that reverted in a block that is not final", async () => {
    says({ receipt: reverted(FINAL + 1), usedThen: "0x0" });
    await close();
    expect(await openBatches(database.read)).to.have.length(1);
  });

  it("leaves a batch open whose nonce was used later, or at a block that the node does not know", async () => {
    for (const usedThen of ["0x0", tooOld]) {
      says({ usedThen });
      await close();
      expect(await openBatches(database.read)).to.have.length(1);
    }
  });

  it("closes a batch whose number was cancelled, when another transaction used its nonce", async () => {
    const [request] = batch.requests;
    if (request === undefined) throw new Error("it has one");
    await apply(database, {
      block: 1,
      cancelled: [{ request, transactionHash: "0x02", blockNumber: 1 }],
      confirmed: 1,
    });
    says({ consumed: true });
    await close();
    expect(await openBatches(database.read)).to.deep.equal([]);
    expect(await requestRow(database, id)).to.include({ status: "failed", error_code: "number_taken", ready_at: null });
  });

  it("leaves a batch open whose numbers are consumed, unless another batch has run them", async () => {
    says({ consumed: true });
    await close();
    expect(await openBatches(database.read)).to.have.length(1);

    const [request] = batch.requests;
    if (request === undefined) throw new Error("it has one");
    const outcome = { ok: false, errorCode: "execution_reverted", errors: null } as const;
    const where = { batchId: -1, transactionHash: "0x02", blockNumber: 1, timestamp: 1 };
    await apply(database, { block: 1, batches: [{ ...where, outcomes: [{ request, outcome }], untouched: [] }] });
    await close();
    expect(await openBatches(database.read)).to.deep.equal([]);
    expect(await requestRow(database, id)).to.include({ ready_at: null });
  });
});
