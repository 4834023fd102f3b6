import { sql } from "kysely";

import type { ParkedKind } from "../../domain/conditions.ts";
import type { QuarantineReason } from "../../domain/followed-contract.ts";
import { counterKeys, readCounters } from "../db/counters.ts";
import { readMeta } from "../db/meta.ts";
import { MOST_COUNTED } from "../db/pages.ts";
import { countParked } from "../db/parked-rows.ts";
import { type Db, engineOf } from "../db/sql.ts";
import { type MintingStop, stoppedMinting } from "../requests/minting.ts";

/** Size of the database in bytes. SQLite: without the write-ahead log. */
export async function databaseBytes(db: Db): Promise<number> {
  const query =
    engineOf(db) === "postgres"
      ? sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
      : sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`;
  const { rows } = await query.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** Rows at the head of the queue among which the oldest request is looked for. */
const HEAD = 250;

/** The state of the pipeline as all processes see it. Times are milliseconds since 1970. */
export interface PipelineState {
  /** Requests that are not final. */
  backlog: { media: number; pending: number; processing: number };
  /** When the oldest request that waits to be sent, and is not parked, was accepted; null when none waits. */
  oldestUnsent: number | null;
  /** Every lane, with its unmined batches, and when the oldest of them was signed; null when it has none. */
  lanes: { lane: number; address: string; unmined: number; oldestUnmined: number | null }[];
  /** Contracts in quarantine, and when each is tried again. */
  quarantined: { address: string; reason: QuarantineReason | null; until: number }[];
  /** Adopted contracts into which minting is stopped, and why. */
  mintingStopped: MintingStop[];
  /** Parked rows of each kind. */
  parked: Record<ParkedKind, number>;
  /** Since when the most overdue webhook delivery is due; null when none is overdue. */
  overdueSince: number | null;
  /** Last block whose events are stored. */
  checkpoint: number;
}

/** Every statement reads a bounded part of an index, however long the queues are. */
export async function readPipeline(db: Db, now: number): Promise<PipelineState> {
  return {
    backlog: await readBacklog(db),
    oldestUnsent: await oldestUnsent(db),
    lanes: await lanesInUse(db),
    quarantined: await inQuarantine(db),
    mintingStopped: await stoppedMinting(db),
    parked: await countParked(db),
    overdueSince: await overdueSince(db, now),
    checkpoint: Number(await readMeta(db, "checkpoint")),
  };
}

async function readBacklog(db: Db): Promise<PipelineState["backlog"]> {
  const keys = [counterKeys.backlog(), counterKeys.processing(), counterKeys.media()];
  const counters = await readCounters(db, keys);
  const [sending = 0, processing = 0, media = 0] = keys.map((key) => counters.get(key) ?? 0);
  return { media, pending: sending - processing, processing };
}

/**
 * When the oldest request was accepted that is in no transaction, without those that wait for media or are parked. A request that was
 * returned for a later time may be missing until it is due: the head of the queue has those that are due first.
 */
export async function oldestUnsent(db: Db): Promise<number | null> {
  const { rows } = await sql<{ oldest: number | null }>`
    select min(created_at) as oldest from (
      select created_at from (select id, created_at from requests where ready_at is not null
                               order by ready_at limit ${HEAD}) as ready
       where not exists (select 1 from parked_rows where kind = 'request' and parked_rows.id = ready.id)
      union all
      select created_at from requests where lane is not null and batch_id is null) as waiting`.execute(db);
  return rows[0]?.oldest ?? null;
}

async function lanesInUse(db: Db): Promise<PipelineState["lanes"]> {
  const { rows } = await sql<PipelineState["lanes"][number]>`
    select lanes.lane as "lane", lanes.address as "address",
           (select count(*) from batches where batches.lane = lanes.lane and batches.status = 'open') as "unmined",
           (select min(batches.created_at) from batches
             where batches.lane = lanes.lane and batches.status = 'open') as "oldestUnmined"
      from lanes order by lanes.lane`.execute(db);
  return rows;
}

/** Contracts in quarantine that are named. */
const MOST_QUARANTINED = 1_000;

async function inQuarantine(db: Db): Promise<PipelineState["quarantined"]> {
  // Each of them has a time at which it is tried again.
  const { rows } = await sql<PipelineState["quarantined"][number]>`
    select address, reason, due_at as until from foreign_contracts
     where due_at is not null and state = 'quarantined' order by due_at limit ${MOST_QUARANTINED}`.execute(db);
  return rows;
}

/** Webhook deliveries that wait, and those that failed for good, each counted up to `MOST_COUNTED`. */
export async function countDeliveries(db: Db): Promise<{ waiting: number; dead: number }> {
  const { rows } = await sql<{ waiting: number; dead: number }>`
    select (select count(*) from (select 1 from deliveries where status = 'pending' limit ${MOST_COUNTED}) as pending)
             as "waiting",
           (select count(*) from (select 1 from deliveries where status = 'failed' limit ${MOST_COUNTED}) as failed)
             as "dead"`.execute(db);
  return rows[0] ?? { waiting: 0, dead: 0 };
}

/** Of each webhook, the delivery that is due first. A delivery that is being sent, or tried again later, is not due. */
async function overdueSince(db: Db, now: number): Promise<number | null> {
  const { rows } = await sql<{ since: number | null }>`
    select min(first.since) as since from (
      select (select case when deliveries.next_at < deliveries.created_at then deliveries.updated_at else deliveries.next_at end
                from deliveries where deliveries.webhook_id = webhooks.id and deliveries.next_at is not null
               order by deliveries.next_at, deliveries.seq limit 1) as since
        from webhooks where webhooks.disabled_at is null) as first
     where first.since <= ${now}`.execute(db);
  return rows[0]?.since ?? null;
}

/** How many contracts apps follow, and how many wallets wait for reads of contracts that are not in quarantine. */
export async function countFollowed(db: Db): Promise<{ followed: number; waiting: number }> {
  const { rows } = await sql<{ followed: number; waiting: number }>`
    select (select count(*) from foreign_contracts where state = 'followed') as "followed",
           (select count(*) from contract_reads as read join foreign_contracts as contract on contract.address = read.contract
             where read.due_at is not null and contract.state = 'followed') as "waiting"`.execute(db);
  return rows[0] ?? { followed: 0, waiting: 0 };
}
