import { type RawBuilder, sql, type SqlBool } from "kysely";

import type { FairShares } from "../../shared/fair-shares.ts";
import { addToBacklog, addToMediaBacklog, CounterDeltas } from "../db/counters.ts";
import { AT_ONCE, LONGEST_WAIT } from "../db/due.ts";
import { type Db, forUpdateSkipLocked, rowSet, textSet, type Trx } from "../db/sql.ts";
import { type FailedRow, mayBeTried, namingRows, type ParkedRow, parkRows, unparkRows } from "../db/parked-rows.ts";
import { type Queue, roundRobin } from "../db/round-robin.ts";
import type { RequestRow } from "../db/schema.ts";
import type { LoneRuns, UnderWay } from "../db/under-way.ts";
import { type StoredRequest, toRequest } from "../requests/requests.ts";

/** Content that a request waits for. No relayer claims the request before it is there. */
export interface MediaJob {
  request: StoredRequest;
  /** The app may store at most this many bytes; null: unlimited. */
  quota: number | null;
  /** Earlier tries. */
  tries: number;
  /** Fencing token: grows each time the job is taken, so an earlier holder can change nothing any more. */
  fence: number;
  /** Processes that died at it: see `LoneRuns`. */
  crashes: number;
}

/** Adds the jobs of requests that wait for content, in the transaction that stores the requests. */
export async function insertMediaJobs(trx: Trx, requests: readonly { id: string; appId: string }[]): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map(({ id, appId }) => ({ request_id: id, app_id: appId }));
  const input = rowSet(trx, { request_id: "text", app_id: "text" }, rows);
  await sql`
    insert into media_jobs (request_id, app_id, due_at, tries, fence)
    select request_id, app_id, ${AT_ONCE}, 0, 0 from ${input} as input order by ord`.execute(trx);
}

/** The jobs that were taken. */
interface TakenJobs {
  taken: MediaJob[];
  /** Those whose request cannot be read. They were parked. */
  parked: ParkedRow[];
  /** Those at which processes died, again while they ran alone. They were taken, to be ended. */
  aside: MediaJob[];
}

const DUE: Queue = { table: "media_jobs", owner: "app_id", at: "due_at" };

/** Takes jobs that are due and not parked, the apps in turns. The lease keeps other processes away until `leaseUntil`. */
export async function leaseMediaJobs(trx: Trx, options: TakeOptions): Promise<TakenJobs> {
  const { now, leaseUntil, holder, shares } = options;
  const limit = shares.free;
  if (limit === 0) return { taken: [], parked: [], aside: [] };
  const owners = (appId: RawBuilder<string>) => sql<SqlBool>`${appId} not in ${textSet(trx, shares.full)}`;
  const { rows } = await sql<DueRow>`
    ${roundRobin(trx, DUE, { now, longestWait: LONGEST_WAIT, limit, owners })}
    select requests.*, apps.quota_media_bytes as job_quota, job.tries as job_tries, job.fence as job_fence,
           job.holder as holder, job.crashes as crashes
      from due
      join media_jobs as job on job.seq = due.seq and job.due_at = due.at
      join requests on requests.id = job.request_id
      join apps on apps.id = job.app_id
     where ${mayBeTried("media_job", sql`job.request_id`, now)}
     order by due.place, due.at, due.seq limit ${limit} ${forUpdateSkipLocked(trx, "job")}`.execute(trx);
  const sorted = options.loneRuns.sort(rows, options.running, (row) => row.app_id);
  const ended = readJobs(sorted.aside);
  const begun = readJobs(sorted.run.filter((row) => shares.take(row.app_id)));
  const parked = await parkMediaJobs(trx, [...begun.unreadable, ...ended.unreadable], now);
  const jobs = [...begun.jobs, ...ended.jobs];
  if (jobs.length > 0) {
    const marks = jobs.map(({ request: { id }, crashes }) => ({ id, crashes }));
    await namingRows(
      "media_jobs",
      marks.map(({ id }) => id),
      () =>
        sql`
        update media_jobs set fence = fence + 1, due_at = ${leaseUntil}, holder = ${holder}, crashes = input.crashes
          from ${rowSet(trx, { id: "text", crashes: "integer" }, marks)} as input
         where media_jobs.request_id = input.id`.execute(trx),
    );
  }
  return { taken: begun.jobs, parked, aside: ended.jobs };
}

interface TakeOptions {
  now: number;
  leaseUntil: number;
  holder: string;
  shares: FairShares;
  loneRuns: LoneRuns;
  /** Jobs that run in this process now. */
  running: number;
}

type DueRow = RequestRow & UnderWay & { job_quota: number | null; job_tries: number; job_fence: number };

/** The jobs with the fencing token that they get. */
function readJobs(rows: readonly DueRow[]): { jobs: MediaJob[]; unreadable: FailedJob[] } {
  const jobs: MediaJob[] = [];
  const unreadable: FailedJob[] = [];
  for (const { job_quota: quota, job_tries: tries, job_fence: fence, holder: _, crashes, ...row } of rows) {
    try {
      jobs.push({ request: toRequest(row), quota, tries, fence: fence + 1, crashes });
    } catch (error) {
      unreadable.push({ id: row.id, fence, error });
    }
  }
  return { jobs, unreadable };
}

/** A job by its request and its fencing token, and what its work threw. */
type FailedJob = FailedRow & Pick<MediaJob, "fence">;

/** Parks jobs: they are due at the times that are returned. Jobs that another process has taken over stay as they are. */
export async function parkMediaJobs(trx: Trx, failed: readonly FailedJob[], now: number): Promise<ParkedRow[]> {
  const parked = await parkRows(trx, "media_job", failed, now);
  if (parked.length === 0) return [];
  const columns = { id: "text", fence: "integer", due_at: "integer" } as const;
  const rows = parked.map(({ id, nextAt }, index) => ({ id, fence: failed[index]?.fence ?? null, due_at: nextAt }));
  await sql`
    update media_jobs set due_at = input.due_at, holder = null, crashes = 0
      from ${rowSet(trx, columns, rows)} as input
     where media_jobs.request_id = input.id and media_jobs.fence = input.fence`.execute(trx);
  return parked;
}

/**
 * Makes the jobs of dead processes due at once, without waiting for their leases to expire.
 * @param isGone whether the holder is known to have ended.
 * @returns how many jobs were returned.
 */
export async function returnAbandonedJobs(trx: Trx, isGone: (holder: string) => boolean): Promise<number> {
  const holders = await trx
    .selectFrom("media_jobs")
    .select("holder")
    .distinct()
    .where("holder", "is not", null)
    .execute();
  const gone = holders.flatMap(({ holder }) => (holder !== null && isGone(holder) ? [holder] : []));
  if (gone.length === 0) return 0;
  // Their holders stay: whoever takes them sees that these processes died.
  const returned = await trx
    .updateTable("media_jobs")
    .set({ due_at: AT_ONCE })
    .where("holder", "in", gone)
    .where("due_at", "<>", AT_ONCE)
    .executeTakeFirst();
  return Number(returned.numUpdatedRows);
}

/** Renews the lease. @returns false when another process has taken the job over. */
export async function renewMediaJob(trx: Trx, job: MediaJob, leaseUntil: number): Promise<boolean> {
  const updated = await trx
    .updateTable("media_jobs")
    .set({ due_at: leaseUntil })
    .where("request_id", "=", job.request.id)
    .where("fence", "=", job.fence)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Returns the job, due again at `dueAt`. @param how `counts`: as a failed try. `unfinished`: its work did not end. */
export async function returnMediaJob(
  trx: Trx,
  job: MediaJob,
  dueAt: number,
  how: "counts" | "ended" | "unfinished",
): Promise<void> {
  const tries = job.tries + (how === "counts" ? 1 : 0);
  await trx
    .updateTable("media_jobs")
    .set({ due_at: dueAt, tries, holder: null, crashes: how === "unfinished" ? job.crashes : 0 })
    .where("request_id", "=", job.request.id)
    .where("fence", "=", job.fence)
    .execute();
}

/** When the oldest request that waits for content was accepted; null when none waits. */
export async function oldestMediaJob(db: Db): Promise<number | null> {
  const oldest = (table: "media_jobs" | "media_results") => sql`
    (select requests.created_at as created_at from ${sql.table(table)} as job join requests on requests.id = job.request_id
      order by job.seq limit 1)`;
  const { rows } = await sql<{ oldest: number | null }>`
    select min(created_at) as oldest from (
      select created_at from ${oldest("media_jobs")} as jobs union all
      select created_at from ${oldest("media_results")} as results) as waiting`.execute(db);
  return rows[0]?.oldest ?? null;
}

/** For requests that fail for another reason than their content. A process that fetches it just now drops its result. */
export async function endMediaJobsOf(trx: Trx, requests: readonly StoredRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const ended = new Set<string>();
  for (const table of ["media_jobs", "media_results"]) {
    const ids = requests.map(({ id }) => id);
    const { rows } = await sql<{ request_id: string }>`
      delete from ${sql.table(table)} where request_id in ${textSet(trx, ids)} returning request_id`.execute(trx);
    for (const row of rows) ended.add(row.request_id);
  }
  await leaveMediaQueue(
    trx,
    requests.filter(({ id }) => ended.has(id)),
  );
}

/** These requests wait no longer for content: now they count in the backlog. */
export async function leaveMediaQueue(
  trx: Trx,
  requests: readonly Pick<StoredRequest, "id" | "app_id">[],
): Promise<void> {
  await unparkRows(trx, "media_job", requests);
  const counters = new CounterDeltas();
  for (const { app_id: appId } of requests) {
    addToMediaBacklog(counters, appId, -1);
    addToBacklog(counters, appId, 1);
  }
  await counters.flush(trx);
}
