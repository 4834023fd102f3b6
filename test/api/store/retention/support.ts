import { enqueueTestEvent } from "../../../../api/store/outbox/events.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { addApp, addRequest, addWebhook, APP, creation, firstOf } from "../../support/rows.ts";

export const NOW = 1_800_000_000_000;
export const DAY = 86_400_000;
/** The lowest block whose header is stored. */
export const REMEMBERED = 100;

/** An app with a webhook, a lane, and a chain whose blocks from `REMEMBERED` on are stored. */
export async function fillBasics(database: Database): Promise<void> {
  await addApp(database);
  await addWebhook(database, APP, NOW);
  await database.write(async (trx) => {
    await trx
      .insertInto("lanes")
      .values({ lane: 0, address: "lane-0", next_nonce: 0, lease_holder: null, lease_fence: 0, lease_until: 0 })
      .execute();
    for (const number of [REMEMBERED, 400]) {
      const hashes = { hash: `hash-${number.toString()}`, parent_hash: "parent" };
      await trx
        .insertInto("blocks")
        .values({ number, ...hashes, timestamp: NOW })
        .execute();
    }
    await trx.insertInto("meta").values({ key: "confirmed_block", value: "389" }).execute();
  });
}

interface DeliveryState {
  status: "pending" | "delivered" | "failed";
  /** Days since it was last changed. */
  age: number;
}

/** A test event of that age, with its delivery. @returns the id of the delivery. */
export async function addTestDelivery(database: Database, { status, age }: DeliveryState): Promise<string> {
  const at = NOW - age * DAY;
  return database.write(async (trx) => {
    const { id } = await enqueueTestEvent(trx, firstOf(APP), at);
    const next_at = status === "pending" ? 0 : null;
    await trx.updateTable("deliveries").set({ status, next_at, updated_at: at }).where("id", "=", id).execute();
    return id;
  });
}

export interface BatchState {
  nonce: number;
  age?: number;
  block?: number | null;
  ran?: 0 | 1;
  fee?: string | null;
}

/** A batch with two attempts and one request. @returns its id. */
export async function addBatch(
  database: Database,
  { nonce, age = 40, block = REMEMBERED - 1, ran = 1, fee = "7" }: BatchState,
): Promise<number> {
  const request = await addRequest(database, creation());
  const created_at = NOW - age * DAY;
  const costs = { gas_used: fee === null ? null : 1, fee_wei: fee, cost_day: fee === null ? null : 1 };
  const status = block === null ? "open" : "closed";
  return database.write(async (trx) => {
    const { id } = await trx
      .insertInto("batches")
      .values({ lane: 0, nonce, status, size: 1, block_number: block, ...costs, ran, created_at })
      .returning("id")
      .executeTakeFirstOrThrow();
    for (const version of ["a", "b"]) {
      const fees = { max_fee_per_gas: "2", max_priority_fee_per_gas: "1", gas_limit: "3" };
      const hash = `hash-${nonce.toString()}-${version}`;
      await trx
        .insertInto("attempts")
        .values({ batch_id: id, hash, raw: "0xabcd", ...fees, created_at, sent_at: created_at })
        .execute();
    }
    await trx
      .insertInto("batch_items")
      .values({ batch_id: id, position: 0, request_id: request.id, weight: 1 })
      .execute();
    return id;
  });
}
