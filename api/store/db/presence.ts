import type { Logger } from "pino";

import { holderIsGone, newLeaseHolder } from "../../shared/lease-holder.ts";
import type { LeaseTimes } from "../../shared/lease.ts";
import type { Database } from "./database.ts";
import { isDue } from "./due.ts";
import { requireKnownSchema, SchemaError } from "./migrate.ts";
import type { Db, Trx } from "./sql.ts";

interface PresenceDeps {
  database: Database;
  logger: Logger;
  now: () => number;
  leaseTimes: LeaseTimes;
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

  private constructor(role: SharedRole, deps: PresenceDeps) {
    this.#role = role;
    this.#deps = deps;
  }

  /** @param opened ends it. */
  static async join(role: SharedRole, deps: PresenceDeps, opened: AsyncDisposableStack): Promise<Presence> {
    const presence = new Presence(role, deps);
    await presence.#beat();
    presence.#timer = setInterval(() => {
      // Heartbeats must not pile up while the database is slow.
      presence.#beating ??= presence.#beat().finally(() => {
        presence.#beating = null;
      });
    }, deps.leaseTimes.renewEvery);
    opened.defer(() => presence.#leave());
    return presence;
  }

  /** Processes with the role, this one included, as of the last check. */
  get count(): number {
    return this.#count;
  }

  /** Counts again. */
  async look(): Promise<number> {
    const { database, now, leaseTimes } = this.#deps;
    const { lasts } = leaseTimes;
    // When the leases of a dead relayer expire, it must not count any more: nobody would take its lanes for good.
    const within = this.#role === "relayer" ? lasts / 2 : lasts;
    this.#count = Math.max(1, await countProcesses(database.read, this.#role, { now: now(), lasts, within }));
    return this.#count;
  }

  async #leave(): Promise<void> {
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
    const { database, logger, now, leaseTimes, onNewerSchema } = this.#deps;
    try {
      await requireKnownSchema(database.read);
      await database.write((trx) =>
        recordProcess(trx, this.#role, this.#id, { now: now(), until: now() + leaseTimes.lasts }),
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
