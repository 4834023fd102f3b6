import { type RawBuilder, sql } from "kysely";

import type { Removed } from "../../domain/retention.ts";
import { integerSet, lockLedger, type Trx } from "../db/sql.ts";
import {
  countRows,
  NOTHING,
  notParked,
  type Prunable,
  type PruneLimits,
  type PruneStep,
  removing,
} from "./prunable.ts";

/** Batches of one step. A batch may carry hundreds of requests, and its transaction takes tens of kilobytes. */
const STEP = 10;
const KEY = sql`cast(id as text)`;

type Part = "keeps_raw" | "keeps_items";

/**
 * Batches that no roll-back can open again: their block is final, lies below the headers that the indexer compares with the
 * chain, and shows which of their calls ran. The cost is known and shared among the requests. While the chain shows a
 * transaction that this database does not know, nothing is pruned: `reconcile` may have to go back further.
 */
function old(part: Part, before: number): RawBuilder<unknown> {
  return sql`batches where ${sql.ref(part)} = 1 and ran = 1 and fee_wei is not null and created_at < ${before}
     and block_number < (select min(number) from blocks)
     and block_number <= (select cast(value as bigint) from meta where key = 'confirmed_block')
     and not exists (select 1 from meta where key = 'unknown_transaction')`;
}

/** Removes a part of the oldest batches. @param remove must count what it removes. */
async function prune(
  trx: Trx,
  part: Part,
  before: number,
  limits: PruneLimits,
  remove: (batches: () => RawBuilder<unknown>) => Promise<{ rows: number; bytes: number }>,
): Promise<PruneStep> {
  // A roll-back that runs at the same time would read the items.
  await lockLedger(trx);
  const { rows } = await sql<{ id: number; row_key: string }>`
    select id, ${KEY} as row_key from ${old(part, before)} ${notParked(trx, KEY, limits)}
     order by created_at limit ${limits.most}`.execute(trx);
  if (rows.length === 0) return NOTHING;
  const ids = rows.map(({ id }) => id);
  const batches = () => integerSet(trx, ids);
  let removed: Removed = NOTHING;
  await removing(rows, async () => {
    removed = await remove(batches);
    await sql`update batches set ${sql.ref(part)} = 0 where id in ${batches()}`.execute(trx);
  });
  return { ...removed, more: rows.length >= limits.most };
}

const RAW_BYTES = sql`length(attempts.raw)`;

/** The signed bytes of old transactions, also of attempts that were replaced. Their hashes and fees stay. */
export const prunableRawTransactions: Prunable = {
  count: (db, before) =>
    countRows(
      db,
      sql`(select id from ${old("keeps_raw", before)}) as pruned
            join attempts on attempts.batch_id = pruned.id and attempts.raw is not null`,
      RAW_BYTES,
    ),
  step: STEP,
  prune: (trx, before, limits) =>
    prune(trx, "keeps_raw", before, limits, async (batches) => {
      const removed = await countRows(trx, sql`attempts where batch_id in ${batches()} and raw is not null`, RAW_BYTES);
      await sql`update attempts set raw = null where batch_id in ${batches()}`.execute(trx);
      return removed;
    }),
};

/** About what an item takes, with its entry in the index. */
const ITEM_BYTES = sql`length(batch_items.request_id) + 40`;

/** Which requests old transactions carried. The transaction on chain has their numbers, and each request has its costs. */
export const prunableBatchItems: Prunable = {
  count: (db, before) =>
    countRows(
      db,
      sql`(select id from ${old("keeps_items", before)}) as pruned
            join batch_items on batch_items.batch_id = pruned.id`,
      ITEM_BYTES,
    ),
  step: STEP,
  prune: (trx, before, limits) =>
    prune(trx, "keeps_items", before, limits, async (batches) => {
      const removed = await countRows(trx, sql`batch_items where batch_id in ${batches()}`, ITEM_BYTES);
      await sql`delete from batch_items where batch_id in ${batches()}`.execute(trx);
      return removed;
    }),
};
