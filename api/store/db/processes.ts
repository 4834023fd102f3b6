import { isDue } from "./due.ts";
import type { Db, Trx } from "./engine.ts";

/**
 * The processes with the role `api` share something, and so do those with the role `relayer`: each must know how many there
 * are. A process with neither is recorded as `other`, because a migration must know of every process.
 */
export type SharedRole = "api" | "relayer" | "other";

/** Says that a process with the role runs, until the given time. Forgets processes that died an hour ago or earlier. */
export async function recordProcess(
  trx: Trx,
  role: SharedRole,
  id: string,
  { now, until }: { now: number; until: number },
): Promise<void> {
  await trx
    .insertInto("processes")
    .values({ role, id, until })
    .onConflict((conflict) => conflict.columns(["role", "id"]).doUpdateSet({ until }))
    .execute();
  await trx
    .deleteFrom("processes")
    .where("role", "=", role)
    .where("until", "<", now - 3_600_000)
    .execute();
}

export async function removeProcess(trx: Trx, role: SharedRole, id: string): Promise<void> {
  await trx.deleteFrom("processes").where("role", "=", role).where("id", "=", id).execute();
}

export interface Counting {
  now: number;
  /** Milliseconds for which a process says that it runs. A time further ahead is from before a clock was set back. */
  lasts: number;
  /** Processes that have said so longer ago do not count, in milliseconds. */
  within: number;
  /** Whether the process is known to have ended. */
  isGone: (id: string) => boolean;
}

/** How many processes with the role run. */
export async function countProcesses(
  db: Db,
  role: SharedRole,
  { now, lasts, within, isGone }: Counting,
): Promise<number> {
  const rows = await db.selectFrom("processes").select(["id", "until"]).where("role", "=", role).execute();
  return rows.filter(({ id, until }) => !isDue(until - lasts + within, now, 2 * lasts) && !isGone(id)).length;
}
