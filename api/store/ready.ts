import { LONGEST_WAIT, whenDue } from "./due.ts";
import type { Db } from "./engine.ts";

/** How many requests could be claimed now, counted up to `most`. */
export async function countReady(db: Db, now: number, most: number): Promise<number> {
  const rows = await db
    .selectFrom("requests")
    .select("seq")
    .where("ready_at", "is not", null)
    .where((eb) => whenDue(eb, eb.ref("ready_at"), now, LONGEST_WAIT))
    .limit(most)
    .execute();
  return rows.length;
}
