import type { Db, Trx } from "../db/engine.ts";
import { batchRequests, closeBatch } from "../sending/batches.ts";
import { batchAt, type LostBatch } from "./adopt-lost-batches.ts";

/** A batch of this database whose nonce an unknown batch with other requests has used. */
export async function replacedBatch(db: Db, batch: LostBatch): Promise<number | null> {
  const id = await batchAt(db, batch.lane, batch.nonce);
  if (id === undefined) return null;
  const known = (await batchRequests(db, id)).map((request) => request.number);
  return known.join() === batch.calls.map((call) => call.number).join() ? null : id;
}

/** Removes a batch that no block can contain any more. Its requests wait for another one. */
export async function removeReplaced(trx: Trx, id: number, block: number, now: number): Promise<void> {
  await closeBatch(trx, id, { blockNumber: block, gasUsed: 0n }, now);
  await trx.deleteFrom("batch_items").where("batch_id", "=", id).execute();
  await trx.deleteFrom("attempts").where("batch_id", "=", id).execute();
  await trx.deleteFrom("batches").where("id", "=", id).execute();
}
