import type { Logger } from "pino";

import { holderIsGone, newLeaseHolder } from "../../shared/lease-holder.ts";
import type { LeaseTimes } from "../../shared/lease.ts";
import type { Database } from "./database.ts";
import { isDue } from "./due.ts";
import { requireKnownSchema, SchemaError } from "./migrate.ts";
import type { Db, Trx } from "./sql.ts";

export interface PresenceDeps {
  database: Database;
  logger: Logger;
  now: () => number;
  times: LeaseTimes;
  /** Processes that have not been heard of for this long do not count, in milliseconds. Default: as long as a lease lasts. */
  within?: number;
  /** Called when a newer version of Moneta has migrated the database: this process must end. */
  onNewerSchema: (error: SchemaError) => void;
}

/** Tells the other processes with a role that this one runs, and knows how many run. */
export class Presence {
  readonly #role: SharedRole;
  readonly #deps: PresenceDeps;
  readonly #id = newLeaseHolder();
  #count = 1;
  #failing = false;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | null = null;

  constructor(role: SharedRole, deps: PresenceDeps) {
    this.#role = role;
    this.#deps = deps;
  }

  /** Processes with the role, this one included, as of the last check. */
  get count(): number {
    return this.#count;
  }

  /** Counts again. */
  async look(): Promise<number> {
    const { database, now, times, within = times.lasts } = this.#deps;
    const running = await countProcesses(database.read, this.#role, { now: now(), lasts: times.lasts, within });
    this.#count = Math.max(1, running);
    return this.#count;
  }

  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      // Heartbeats must not pile up while the database is slow.
      this.#beating ??= this.#beat().finally(() => {
        this.#beating = null;
      });
    }, this.#deps.times.renewEvery);
  }

  async stop(): Promise<void> {
    const { database, logger } = this.#deps;
    clearInterval(this.#timer);
    await this.#beating;
    try {
      await database.write((trx) => removeProcess(trx, this.#role, this.#id));
    } catch (error) {
      // The others stop counting it when its time is over.
      logger.debug({ err: error }, "this process could not tell the others that it stops");
    }
  }

  async #beat(): Promise<void> {
    const { database, logger, now, times, onNewerSchema } = this.#deps;
    try {
      await requireKnownSchema(database.read);
      await database.write((trx) =>
        recordProcess(trx, this.#role, this.#id, { now: now(), until: now() + times.lasts }),
      );
      await this.look();
      this.#failing = false;
    } catch (error) {
      if (error instanceof SchemaError) {
        onNewerSchema(error);
        return;
      }
      // The last count stays in use until the database works again.
      if (!this.#failing) logger.warn({ err: error }, "this process cannot tell the others that it runs; retrying");
      this.#failing = true;
    }
  }
}

/**
 * The processes with the role `api` share something, and so do those with the role `relayer`: each must know how many there
 * are. A process with neither is recorded as `other`, because a migration must know of every process. It has a table of its own:
 * the roles of PostgreSQL that copy and serve media may write only there.
 */
export type SharedRole = "api" | "relayer" | "other";

/** Says that a process with the role runs, until the given time. Forgets processes that died an hour ago or earlier. */
export async function recordProcess(
  trx: Trx,
  role: SharedRole,
  id: string,
  { now, until }: { now: number; until: number },
): Promise<void> {
  if (role === "other") {
    await trx
      .insertInto("other_processes")
      .values({ id, until })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ until }))
      .execute();
    await trx
      .deleteFrom("other_processes")
      .where("until", "<", now - 3_600_000)
      .execute();
    return;
  }
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
  if (role === "other") await trx.deleteFrom("other_processes").where("id", "=", id).execute();
  else await trx.deleteFrom("processes").where("role", "=", role).where("id", "=", id).execute();
}

interface Counting {
  now: number;
  /** Milliseconds for which a process says that it runs. A time further ahead is from before a clock was set back. */
  lasts: number;
  /** Processes that have said so longer ago do not count, in milliseconds. */
  within: number;
}

/** How many processes with the role run. */
export async function countProcesses(db: Db, role: SharedRole, { now, lasts, within }: Counting): Promise<number> {
  const rows =
    role === "other"
      ? await db.selectFrom("other_processes").select(["id", "until"]).execute()
      : await db.selectFrom("processes").select(["id", "until"]).where("role", "=", role).execute();
  return rows.filter(({ id, until }) => !isDue(until - lasts + within, now, 2 * lasts) && !holderIsGone(id)).length;
}
