import { sql } from "kysely";

import type { ParkedKind } from "../../domain/conditions.ts";
import { BoundedMap } from "../../shared/bounded-map.ts";
import { hasDied } from "../../shared/lease-holder.ts";
import { AT_ONCE } from "./due.ts";
import { type FailedRow, parkedOf, unparkRows } from "./parked-rows.ts";
import type { Trx } from "./sql.ts";

/*
 * A job that kills its process must not do so again at each start, and take the jobs beside it along. So whoever takes a job
 * writes its name into `holder`, and removes it when the work has ended in any way, or is given back at a stop. If another
 * process finds the name of one that has died, the job was under way: that counts as a crash. From then on the job runs alone:
 * no other job of its kind runs in the process at that time, and no other job of any kind that a crash has counted for. Once
 * its work has ended, also with an error, it is a job like any other. A job at which a process died while it was alone too
 * often is put aside.
 */

/** What the earlier process has left of a job. */
export interface UnderWay {
  /** The process that works on it; null: none does. */
  holder: string | null;
  /** Processes that died at it, since its work last ended. */
  crashes: number;
}

/** The first crash says little: many jobs were under way. After this many more, all of them while it ran alone, a job is put aside. */
export const CRASHES_ALONE = 3;

/** For this long, jobs run alone one after another. Then the others run for at least as long. In milliseconds. */
const PHASE = 5_000;
/** Apps of which the time is known that their jobs have run alone. */
const MOST_APPS = 1_000;

/** What a row gets when the work on it has ended in any way. */
export const ENDED = { holder: null, crashes: 0 } as const;

/** Why a job is put aside. */
export class CrashedAlone extends Error {
  override readonly name = "CrashedAlone";

  constructor(crashes: number) {
    super(
      `the process died ${crashes.toString()} times at this work, the last ${CRASHES_ALONE.toString()} times while nothing ran ` +
        "beside it: it is put aside until `parked retry`",
    );
  }
}

/** Jobs that are put aside, to be parked: they are found again later, and not run. @param idOf the id of their parked row. */
export function failedAlone<Row extends UnderWay>(rows: readonly Row[], idOf: (row: Row) => string): FailedRow[] {
  return rows.map((row) => ({ id: idOf(row), error: new CrashedAlone(row.crashes) }));
}

interface Sorted<Row> {
  /** What may be taken now: jobs that run beside each other, or one that runs alone. */
  run: Row[];
  /** What must be put aside. */
  aside: Row[];
  /** Whether there are jobs that must run alone. Reading the queue again at once finds the same ones. */
  someMustRunAlone: boolean;
}

/**
 * Decides which jobs run alone, and when. The workers of a process share it. Jobs that run alone stop the others of their kind, so
 * after some time the others get as much. Of those that wait, the next one is of the app
 * whose jobs took least time: one server that hangs does not delay the jobs of other apps for long.
 */
export class LoneRuns {
  readonly #clock: () => number;
  /** Milliseconds that jobs of each app have run alone. */
  readonly #spent = new BoundedMap<string, number>(MOST_APPS);
  #running = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** When jobs began to run alone; null: none does. */
  #since: number | null = null;
  #restUntil = -Infinity;

  /** @param clock monotonic, in milliseconds. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
  }

  /**
   * @param rows jobs that are due, in their order. The crash at which their last holder died is added.
   * @param running jobs of the kind that run in this process now.
   */
  sort<Row extends UnderWay>(
    rows: readonly Row[],
    running: number,
    appOf: (row: Row) => string = () => "",
  ): Sorted<Row> {
    const died = new Map<string, boolean>();
    const hasLeft = (holder: string) => {
      const known = died.get(holder) ?? hasDied(holder);
      died.set(holder, known);
      return known;
    };
    const counted = rows.map((row) =>
      row.holder !== null && hasLeft(row.holder) ? { ...row, crashes: row.crashes + 1 } : row,
    );
    const aside = counted.filter(({ crashes }) => crashes > CRASHES_ALONE);
    const crashed = counted.filter(({ crashes }) => crashes > 0 && crashes <= CRASHES_ALONE);
    const others = counted.filter(({ crashes }) => crashes === 0);
    if (crashed.length === 0) return { run: others, aside, someMustRunAlone: false };
    const now = this.#clock();
    if (this.#running > 0 || now < this.#restUntil) return { run: others, aside, someMustRunAlone: true };
    this.#since ??= now;
    // Those that run end first.
    if (running > 0) return { run: [], aside, someMustRunAlone: true };
    const spent = (row: Row) => this.#spent.get(appOf(row)) ?? 0;
    return { run: [crashed.reduce((a, b) => (spent(b) < spent(a) ? b : a))], aside, someMustRunAlone: true };
  }

  /** Runs a job that was taken. If it must be alone, and a job of another kind that must be, too, runs now, it waits for that. */
  async run<T>({ crashes }: Pick<UnderWay, "crashes">, app: string, work: () => Promise<T>): Promise<T> {
    if (crashes === 0) return work();
    this.#running += 1;
    const before = this.#last;
    const ended = Promise.withResolvers<null>();
    this.#last = ended.promise;
    await before;
    const started = this.#clock();
    try {
      return await work();
    } finally {
      this.#ended(app, started);
      ended.resolve(null);
    }
  }

  #ended(app: string, started: number): void {
    const now = this.#clock();
    this.#running -= 1;
    this.#spent.set(app, (this.#spent.get(app) ?? 0) + now - started);
    const since = this.#since ?? started;
    if (now - since < PHASE) return;
    this.#restUntil = now + Math.max(PHASE, now - started);
    this.#since = null;
  }
}

/** The tables of work, with the columns that have the id of its parked row and the time at which it is due. */
const WORK: Partial<Record<ParkedKind, { table: string; id: string; at: string; countsCrashes: boolean }>> = {
  request: { table: "requests", id: "id", at: "ready_at", countsCrashes: false },
  media_job: { table: "media_jobs", id: "request_id", at: "due_at", countsCrashes: true },
  delivery: { table: "deliveries", id: "id", at: "next_at", countsCrashes: true },
};

/** Tries parked work again at once, also if it was put aside. @returns false when it is not parked. */
export async function retryParked(trx: Trx, kind: ParkedKind, id: string): Promise<boolean> {
  const isParked = (await parkedOf(trx, kind)).some((row) => row.id === id);
  if (!isParked) return false;
  await unparkRows(trx, kind, [{ id }]);
  const work = WORK[kind];
  if (work === undefined) return true;
  const { table, at, countsCrashes } = work;
  const [counted, unheld] = countsCrashes ? [sql`crashes = 0,`, sql`and holder is null`] : [sql``, sql``];
  await sql`
    update ${sql.table(table)} set ${counted} ${sql.ref(at)} = ${AT_ONCE}
     where ${sql.ref(work.id)} = ${id} ${unheld} and ${sql.ref(at)} is not null`.execute(trx);
  return true;
}
