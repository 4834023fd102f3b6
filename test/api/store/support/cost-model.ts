import { expect } from "chai";
import { sql } from "kysely";

import type { Command } from "../../../../api/domain/command.ts";
import type { Cost } from "../../../../api/domain/cost-shares.ts";
import { estimateGas } from "../../../../api/domain/gas-estimate.ts";
import { isFinal } from "../../../../api/domain/request.ts";
import { sumUsage } from "../../../../api/domain/usage.ts";
import { CounterDeltas } from "../../../../api/store/db/counters.ts";
import type { SliceToStore } from "../../../../api/store/ledger/apply-range.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { readUsage } from "../../../../api/store/listings/usage.ts";
import { batchesWithoutCost, recordCosts } from "../../../../api/store/requests/costs.ts";
import { insertRequest, type NumberedRequest } from "../../../../api/store/requests/requests.ts";
import { closeBatch } from "../../../../api/store/sending/close-batch.ts";
import type { TestDatabase } from "../../../support/database.ts";
import { apply, batchOf, startAtBlock } from "../../support/blocks.ts";
import { addApp, hashOf, requestRow } from "../../support/rows.ts";

/** Needs no reservation and moves no token. */
const COMMAND: Command = { kind: "announce-metadata", collection: "0xcollection", tokenId: null };
/** What was charged when a request was accepted: another figure than an estimate of today. */
const ESTIMATE = estimateGas(COMMAND) + 1_234;
const APPS = ["app-a", "app-b"];
const BLOCK_TIME = 40_000_000;

interface SignedBatch {
  batchId: number;
  hash: string;
  requests: NumberedRequest[];
}

type Run = "ok" | "fails" | "untouched";

/** A chain with batches, and what their transactions cost. The database must always agree with it. */
export class CostModel {
  readonly database: TestDatabase;
  #forks = ["main"];
  #head = 0;
  #requests = 0;
  #open: SignedBatch[] = [];
  /** Batches in blocks. `cost` is null while the node does not show the receipt. */
  #mined: (SignedBatch & { block: number; real: Cost; cost: Cost | null })[] = [];
  /** The batch that ran a request's call; null: its number was cancelled. A reorg takes it back, but not from a final request. */
  readonly #ranIn = new Map<string, number | null>();

  private constructor(database: TestDatabase) {
    this.database = database;
  }

  static async start(database: TestDatabase): Promise<CostModel> {
    for (const app of APPS) {
      await addApp(database, app);
      await database.write((trx) => trx.insertInto("gas_usage").values({ app_id: app, day: 0, used: 0 }).execute());
    }
    await startAtBlock(database, 0);
    return new CostModel(database);
  }

  /** Accepts requests, and signs a batch of them and of everything that was returned. */
  async sign(apps: number[], weights: number[]): Promise<void> {
    for (const app of apps) {
      const id = `request-${(++this.#requests).toString()}`;
      const appId = APPS[app] ?? "";
      const request = { id, appId, type: "metadata", command: COMMAND, unlockable: null } as const;
      const gas = { day: 0, gas: ESTIMATE };
      await this.database.write(async (trx) => {
        await insertRequest(trx, { ...request, collection: null, tokenId: null, gas, now: 1 });
        await trx
          .updateTable("gas_usage")
          .set((eb) => ({ used: eb("used", "+", ESTIMATE) }))
          .where("app_id", "=", appId)
          .execute();
      });
    }
    const ready = await this.database.read
      .selectFrom("requests")
      .select("id")
      .where("ready_at", "is not", null)
      .orderBy("seq")
      .execute();
    const ids = ready.map(({ id }) => id);
    const of = ids.map((_, index) => weights[index % weights.length] ?? 1);
    if (ids.length === 0) return;
    const batch = await batchOf(this.database, ids, of);
    const { hash } = await this.database.read
      .selectFrom("attempts")
      .select("hash")
      .where("batch_id", "=", batch.batchId)
      .executeTakeFirstOrThrow();
    this.#open.push({ ...batch, hash });
  }

  /** @param runs for each call: whether it succeeds, fails, or is not reached. @param known whether there is a receipt. */
  async mine(real: Cost, runs: Run[], known: boolean, confirmations: number): Promise<void> {
    const batch = this.#open.shift();
    if (batch === undefined) return;
    const block = this.#head + 1;
    const now = await Promise.all(batch.requests.map(({ id }) => requestRow(this.database, id)));
    const results = batch.requests.map((request, index) => {
      const row = now[index];
      // A number that another batch has consumed is skipped.
      const skipped = row?.outcome != null || (row !== undefined && isFinal(row.status));
      return {
        request: { ...request, ...row, number: request.number },
        run: skipped ? "skipped" : runs[index % runs.length],
      };
    });
    const ok = { ok: true, collection: null, tokenId: null } as const;
    const failed = { ok: false, errorCode: "execution_reverted", errors: null } as const;
    const mined = {
      batchId: batch.batchId,
      transactionHash: batch.hash,
      blockNumber: block,
      timestamp: block * BLOCK_TIME,
      ...(known ? { cost: real } : {}),
      outcomes: results.flatMap(({ request, run }) =>
        run === "ok" || run === "fails" ? [{ request, outcome: run === "ok" ? ok : failed }] : [],
      ),
      untouched: results.flatMap(({ request, run }) => (run === "untouched" ? [request] : [])),
    };
    await this.#block({ confirmations, batches: [mined] });
    this.#mined.push({ ...batch, block, real, cost: known ? real : null });
    for (const { request, run } of results) {
      if (run === "ok" || run === "fails") this.#ranIn.set(request.id, batch.batchId);
    }
  }

  /** Another transaction consumes the number of a signed request, without its call. */
  async cancel(confirmations: number): Promise<void> {
    const rows = await Promise.all(
      this.#open.flatMap(({ requests }) => requests).map(({ id }) => requestRow(this.database, id)),
    );
    const request = rows.find(({ outcome, status }) => outcome === null && !isFinal(status));
    if (request === undefined) return;
    const blockNumber = this.#head + 1;
    const transactionHash = hashOf(`cancellation ${blockNumber.toString()}`);
    await this.#block({ confirmations, cancelled: [{ request, transactionHash, blockNumber }] });
    this.#ranIn.set(request.id, null);
  }

  /** A transaction that reverted as a whole. */
  async revert(real: Cost): Promise<void> {
    const batch = this.#open.shift();
    if (batch === undefined) return;
    await this.#block({ confirmations: 100 });
    const day = Math.floor((this.#head * BLOCK_TIME) / 86_400_000);
    const mined = { blockNumber: this.#head, cost: { ...real, day } };
    await this.database.write((trx) => closeBatch(trx, batch.batchId, mined, 1));
    this.#mined.push({ ...batch, block: this.#head, real, cost: real });
  }

  async reorg(depth: number): Promise<void> {
    const fork = Math.max(0, this.#head - depth);
    await this.database.write((trx) => rollback(trx, fork));
    this.#head = fork;
    this.#forks = this.#forks.slice(0, fork + 1);
    const dropped = this.#mined.filter(({ block }) => block > fork);
    this.#mined = this.#mined.filter(({ block }) => block <= fork);
    this.#open = [...dropped, ...this.#open];
    const undecided = await this.database.read
      .selectFrom("requests")
      .select("id")
      .where("status", "in", ["pending", "processing"])
      .where("outcome", "is", null)
      .execute();
    for (const { id } of undecided) this.#ranIn.delete(id);
  }

  /** The node shows all receipts now. Recording twice changes nothing. */
  async showReceipts(): Promise<void> {
    const missing = await batchesWithoutCost(this.database.read, 50);
    const without = this.#mined.filter(({ cost }) => cost === null);
    expect(missing.map(({ batchId }) => batchId).sort()).to.deep.equal(without.map(({ batchId }) => batchId).sort());
    const costs = without.map(({ batchId, block, real }) => {
      return { ...real, batchId, blockNumber: block, day: Math.floor((block * BLOCK_TIME) / 86_400_000) };
    });
    for (let time = 0; time < 2; time++) {
      await this.database.write(async (trx) => {
        const counters = new CounterDeltas();
        await recordCosts(trx, costs, counters);
        await recordCosts(
          trx,
          costs.map((cost) => ({ ...cost, blockNumber: cost.blockNumber + 1 })),
          counters,
        );
        await counters.flush(trx);
      });
    }
    for (const batch of without) batch.cost = batch.real;
  }

  async check(): Promise<void> {
    const { read } = this.database;
    const costs = this.#mined.flatMap(({ cost }) => cost ?? []);
    const real = {
      gas: costs.reduce((sum, { gas }) => sum + gas, 0),
      feeWei: costs.reduce((sum, { feeWei }) => sum + feeWei, 0n),
    };
    const requests = await read.selectFrom("requests").selectAll().execute();
    expect(requests.reduce((sum, { gas_used }) => sum + (gas_used ?? 0), 0)).to.equal(real.gas);
    expect(requests.reduce((sum, { fee_wei }) => sum + BigInt(fee_wei ?? "0"), 0n)).to.equal(real.feeWei);
    for (const { gas_used: gas, fee_wei: fee } of requests) expect(gas === null).to.equal(fee === null);
    const usage = sumUsage((await Promise.all(APPS.map((app) => readUsage(read, app, { from: 0, to: 30 })))).flat());
    expect({ gas: usage.gas, feeWei: usage.feeWei }).to.deep.equal(real);
    for (const app of APPS) {
      const own = requests.filter(({ app_id }) => app_id === app);
      const ofApp = sumUsage(await readUsage(read, app, { from: 0, to: 30 }));
      expect(ofApp.gas).to.equal(own.reduce((sum, { gas_used }) => sum + (gas_used ?? 0), 0));
      const { rows } = await sql<{ used: number }>`select used from gas_usage where app_id = ${app}`.execute(read);
      const used = rows[0]?.used;
      expect(used).to.equal(own.reduce((sum, { gas_charged }) => sum + (gas_charged ?? 0), 0));
    }
    const known = new Set(this.#mined.flatMap(({ batchId, cost }) => (cost === null ? [] : [batchId])));
    for (const { id, gas_charged: charged, gas_used: used } of requests) {
      const ranIn = this.#ranIn.get(id);
      const settled = ranIn === null || (ranIn !== undefined && known.has(ranIn));
      const estimate = settled ? 0 : ESTIMATE;
      expect({ id, charged }).to.deep.equal({ id, charged: (used ?? 0) + estimate });
    }
  }

  async #block({ confirmations, ...range }: { confirmations: number } & Partial<SliceToStore>): Promise<void> {
    const block = this.#head + 1;
    const fork = `fork ${block.toString()} ${Math.random().toString()}`;
    const parent = this.#forks[this.#head] ?? "";
    const parentHash = hashOf(`${parent} ${this.#head.toString()}`.slice(0, 30));
    const hash = hashOf(`${fork} ${block.toString()}`.slice(0, 30));
    const blocks = [{ number: block, hash, parent_hash: parentHash, timestamp: block * BLOCK_TIME }];
    const confirmed = Math.max(0, block - confirmations);
    const stored = await apply(this.database, { block, parentHash, blocks, confirmed, ...range });
    expect(stored).to.equal(true);
    this.#head = block;
    this.#forks[block] = fork;
  }
}
