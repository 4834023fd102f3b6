import type { Logger } from "pino";

import { holderIsGone, newLeaseHolder } from "../../shared/lease-holder.ts";
import { LeaseLost, type LeaseTimes, whileLeased } from "../../shared/lease.ts";
import type { Database } from "./database.ts";
import { isDue } from "./due.ts";
import type { Trx } from "./sql.ts";

interface WorkLeaseDeps {
  database: Database;
  logger: Logger;
  now: () => number;
  times: LeaseTimes;
}

/**
 * Lets one process at a time do some work, step by step. The others stand by and look now and then whether the lease is
 * free. The holder renews it between and during its steps.
 */
export class WorkLease {
  readonly #name: LeaseName;
  readonly #deps: WorkLeaseDeps;
  readonly #holder = newLeaseHolder();
  #held: HeldLease | null = null;
  /** When it was renewed or taken last (monotonic clock). */
  #renewedAt = 0;

  constructor(name: LeaseName, deps: WorkLeaseDeps) {
    this.#name = name;
    this.#deps = deps;
  }

  /**
   * The database, for the work. Each write first compares the fencing token, in the same transaction: a process that was
   * paused and replaced meanwhile changes nothing. @throws LeaseLost
   */
  get fenced(): Database {
    const { database } = this.#deps;
    const fence =
      <T>(operation: (trx: Trx) => Promise<T>) =>
      async (trx: Trx): Promise<T> => {
        // This locks the row on every engine, so a takeover waits for this transaction.
        await update(trx, this.#mustHold(), { holder: this.#holder });
        return operation(trx);
      };
    return {
      ...database,
      write: (operation) => database.write(fence(operation)),
      writeGroup: (operation) => database.writeGroup(fence(operation)),
    };
  }

  #mustHold(): HeldLease {
    if (this.#held === null) throw new LeaseLost(`this process does not have the lease: ${this.#name}`);
    return this.#held;
  }

  /**
   * Does one step of the work if this process has the lease, or can take it.
   * @returns null when another process does the work.
   */
  async step<T>(abort: AbortSignal, work: (stop: AbortSignal) => Promise<T>): Promise<T | null> {
    const { logger, times } = this.#deps;
    try {
      if (!(await this.#own())) return null;
      return await whileLeased({ renew: () => this.#renew(), every: times.renewEvery }, abort, work);
    } catch (error) {
      if (error instanceof LeaseLost) {
        this.#held = null;
        logger.warn({ lease: this.#name }, "another process has taken over this work");
        return null;
      }
      // Another process may be able to do the work: this one does not keep the lease while it backs off.
      await this.release();
      throw error;
    }
  }

  /** When any process finished the work last, in milliseconds since 1970; null: never. */
  async lastDone(): Promise<number | null> {
    return (await this.#stored())?.done_at ?? null;
  }

  #stored() {
    const { read } = this.#deps.database;
    return read.selectFrom(tableOf(this.#name)).selectAll().where("name", "=", this.#name).executeTakeFirst();
  }

  /** Releases the lease, and stores that the work is done. @throws LeaseLost */
  async finish(): Promise<void> {
    const { database, now } = this.#deps;
    const held = this.#mustHold();
    await database.write((trx) => update(trx, held, { holder: null, until: 0, done_at: now() }));
    this.#held = null;
  }

  /** Takes the lease, or renews it when that is due. @throws LeaseLost */
  async #own(): Promise<boolean> {
    const { database, now, times } = this.#deps;
    if (this.#held !== null) {
      if (performance.now() - this.#renewedAt >= times.renewEvery) await this.#renew();
      return true;
    }
    const time = { now: now(), lasts: times.lasts };
    // Read first: a process that stands by does not write.
    const stored = await this.#stored();
    if (stored !== undefined && !isFree(stored, time, holderIsGone)) return false;
    const started = performance.now();
    this.#held = await database.write((trx) => takeNamedLease(trx, this.#name, this.#holder, time, holderIsGone));
    this.#renewedAt = started;
    return this.#held !== null;
  }

  /** @throws LeaseLost */
  async #renew(): Promise<void> {
    const { database, now, times } = this.#deps;
    const held = this.#held;
    if (held === null) return;
    const started = performance.now();
    await database.write((trx) => update(trx, held, { until: now() + times.lasts }));
    this.#renewedAt = started;
  }

  /** Releases the lease, so that another process may do the work at once. */
  async release(): Promise<void> {
    const { database, logger } = this.#deps;
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    try {
      await database.write((trx) => update(trx, held, { holder: null, until: 0 }));
    } catch (error) {
      // Another process has taken it.
      if (error instanceof LeaseLost) return;
      // The lease expires. The caller reports the error that led here.
      logger.debug({ err: error, lease: this.#name }, "the lease could not be released; it will expire");
    }
  }
}

/** Work that exactly one process does at a time. */
type LeaseName = "indexer" | "announcer" | "pruner" | "media_collector" | "reconcile" | `rescue ${string}`;

/** The roles of PostgreSQL that copy and serve media may write only their own table. All have the same columns. */
function tableOf(name: LeaseName): "leases" {
  const own = { media_collector: "media_leases", announcer: "ipfs_leases" } as Readonly<Record<string, string>>;
  return (own[name] ?? "leases") as "leases";
}

/** The right to do the work. It is valid while the row has this fencing token. */
interface HeldLease {
  name: LeaseName;
  holder: string;
  fence: number;
}

interface LeaseTime {
  now: number;
  lasts: number;
}

/** Whether a lease can be taken: nobody has it, it has expired, or its holder has ended. */
export function isFree(
  { holder, until }: { holder: string | null; until: number },
  time: LeaseTime,
  isGone: (holder: string) => boolean,
): boolean {
  return holder === null || isDue(until, time.now, time.lasts) || isGone(holder);
}

/**
 * Takes a lease that is free.
 * @param isGone whether the holder is known to have ended.
 * @returns null when another process has it.
 */
export async function takeNamedLease(
  trx: Trx,
  name: LeaseName,
  holder: string,
  time: LeaseTime,
  isGone: (holder: string) => boolean,
): Promise<HeldLease | null> {
  await trx
    .insertInto(tableOf(name))
    .values({ name, holder: null, fence: 0, until: 0 })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  // One read: of two, the second could show the fencing token of a process that has taken the lease since the first.
  const { fence, ...row } = await trx
    .selectFrom(tableOf(name))
    .selectAll()
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  if (!isFree(row, time, isGone)) return null;
  const taken = await trx
    .updateTable(tableOf(name))
    .set({ holder, fence: fence + 1, until: time.now + time.lasts })
    .where("name", "=", name)
    .where("fence", "=", fence)
    .executeTakeFirst();
  return taken.numUpdatedRows === 1n ? { name, holder, fence: fence + 1 } : null;
}

/** @throws LeaseLost */
async function update(
  trx: Trx,
  lease: HeldLease,
  values: { until: number } | { holder: string } | { holder: null; until: 0; done_at?: number },
): Promise<void> {
  const updated = await trx
    .updateTable(tableOf(lease.name))
    .set(values)
    .where("name", "=", lease.name)
    .where("fence", "=", lease.fence)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw new LeaseLost(`another process has taken over: ${lease.name}`);
}
