import type { Logger } from "pino";

import { holderIsGone, newLeaseHolder } from "../../shared/lease-holder.ts";
import { LeaseLost, type LeaseTimes, whileLeased } from "../../shared/lease.ts";
import type { Database } from "./database.ts";
import { isDue } from "./due.ts";
import type { Db, Trx } from "./sql.ts";

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
        await holdNamedLease(trx, this.#mustHold());
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
  lastDone(): Promise<number | null> {
    return lastDoneOf(this.#deps.database.read, this.#name);
  }

  /** Releases the lease, and stores that the work is done. @throws LeaseLost */
  async finish(): Promise<void> {
    const { database, now } = this.#deps;
    const held = this.#mustHold();
    await database.write((trx) => finishNamedLease(trx, held, now()));
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
    if (!(await isLeaseFree(database.read, this.#name, time, holderIsGone))) return false;
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
    await database.write((trx) => renewNamedLease(trx, held, now() + times.lasts));
    this.#renewedAt = started;
  }

  /** Releases the lease, so that another process may do the work at once. */
  async release(): Promise<void> {
    const { database, logger } = this.#deps;
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    try {
      await database.write((trx) => releaseNamedLease(trx, held));
    } catch (error) {
      // The lease expires. The caller reports the error that led here.
      logger.debug({ err: error, lease: this.#name }, "the lease could not be released; it will expire");
    }
  }
}

/** Work that exactly one process does at a time. */
type LeaseName = "indexer" | "announcer" | "pruner" | "media_collector" | "verifier";

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

/** Whether a process could take the lease. */
export async function isLeaseFree(
  db: Db,
  name: LeaseName,
  time: LeaseTime,
  isGone: (holder: string) => boolean,
): Promise<boolean> {
  const row = await db.selectFrom("leases").selectAll().where("name", "=", name).executeTakeFirst();
  return row === undefined || isFree(row, time, isGone);
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
    .insertInto("leases")
    .values({ name, holder: null, fence: 0, until: 0 })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  // One read: of two, the second could show the fencing token of a process that has taken the lease since the first.
  const { fence, ...row } = await trx
    .selectFrom("leases")
    .selectAll()
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  if (!isFree(row, time, isGone)) return null;
  const taken = await trx
    .updateTable("leases")
    .set({ holder, fence: fence + 1, until: time.now + time.lasts })
    .where("name", "=", name)
    .where("fence", "=", fence)
    .executeTakeFirst();
  return taken.numUpdatedRows === 1n ? { name, holder, fence: fence + 1 } : null;
}

/** Extends the lease. @throws LeaseLost */
export async function renewNamedLease(trx: Trx, lease: HeldLease, until: number): Promise<void> {
  await update(trx, lease, { until });
}

/**
 * Checks the lease. This is the first statement of every write that it protects. It locks the row on every engine, so a
 * takeover waits for this transaction. @throws LeaseLost
 */
export async function holdNamedLease(trx: Trx, lease: HeldLease): Promise<void> {
  await update(trx, lease, { holder: lease.holder });
}

/** Releases the lease, so that the next process need not wait until it expires. */
export async function releaseNamedLease(trx: Trx, lease: HeldLease): Promise<void> {
  await trx
    .updateTable("leases")
    .set({ holder: null, until: 0 })
    .where("name", "=", lease.name)
    .where("fence", "=", lease.fence)
    .execute();
}

/** Releases the lease, because the work is done for now. @throws LeaseLost */
export async function finishNamedLease(trx: Trx, lease: HeldLease, now: number): Promise<void> {
  await update(trx, lease, { holder: null, until: 0, done_at: now });
}

/** When the work was done last, in milliseconds since 1970; null: never. */
export async function lastDoneOf(db: Db, name: LeaseName): Promise<number | null> {
  const row = await db.selectFrom("leases").select("done_at").where("name", "=", name).executeTakeFirst();
  return row?.done_at ?? null;
}

async function update(
  trx: Trx,
  lease: HeldLease,
  values: { until: number } | { holder: string } | { holder: null; until: 0; done_at: number },
): Promise<void> {
  const updated = await trx
    .updateTable("leases")
    .set(values)
    .where("name", "=", lease.name)
    .where("fence", "=", lease.fence)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw new LeaseLost(`another process has taken over: ${lease.name}`);
}
