import { sql } from "kysely";

import { KEEP_SERIES, slotOf } from "../../domain/series.ts";
import { counterKeys } from "../db/counters.ts";
import type { Trx } from "../db/engine.ts";

/** Deletes the slots of the charts that no answer can show any more. */
export async function pruneSeries(trx: Trx, now: number): Promise<void> {
  await sql`
    delete from counters
     where key >= ${counterKeys.series(0, "")} and key < ${counterKeys.series(slotOf(now - KEEP_SERIES), "")}`.execute(
    trx,
  );
}
