import { sql } from "kysely";
import { z } from "zod";

import { type Command, MEDIA_FIELDS, type TokenMetadata } from "../../domain/command.ts";
import type { ChainOutcome } from "../../domain/request.ts";
import { quotaMessage, storedBytesOf } from "../../domain/quota.ts";
import { lockQuotas } from "../apps/quotas.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import { mayBeTried, unparkRows } from "../db/parked-rows.ts";
import { type Db, forUpdate, forUpdateSkipLocked, textSet, type Trx } from "../db/sql.ts";
import { failWithoutEffect } from "../requests/request-state.ts";
import { type StoredRequest, toRequest } from "../requests/requests.ts";
import { leaveMediaQueue, type MediaJob } from "./media-jobs.ts";
import { countCopied, storedBytes, type StoredMedia } from "./media.ts";

/*
 * What a process that copies media found. It reads files of strangers, so it may be taken over by one of them: PostgreSQL lets it
 * write only its result, and whoever accepts the result takes no more from it than the content that the request asked for.
 */

const LONGEST_MESSAGE = 2_000;
const cid = z.string().min(1).max(100);
const resultSchema = z.discriminatedUnion("kind", [
  /** The files of the media fields of a mint, by field. */
  z.object({
    kind: z.literal("files"),
    cids: z.strictObject({ image: cid.optional(), animation_url: cid.optional() }),
  }),
  /** The directory of a freeze. */
  z.object({ kind: z.literal("directory"), cid }),
  z.object({
    kind: z.literal("failed"),
    errorCode: z.enum(["media_unavailable", "media_too_large", "media_blocked", "quota_exceeded"]),
    field: z.string().max(50),
    message: z.string().max(LONGEST_MESSAGE),
  }),
]);
export type MediaResult = z.infer<typeof resultSchema>;
export type MediaFailure = Extract<MediaResult, { kind: "failed" }>;

/** Why the content of a field cannot be fetched. */
export function mediaFailure({ message, ...failure }: Omit<MediaFailure, "kind">): MediaFailure {
  return { kind: "failed", ...failure, message: message.slice(0, LONGEST_MESSAGE) };
}

/**
 * Ends a job. `acceptMediaResult` changes its request accordingly: the process that copies media may not.
 * @returns false when another process has taken the job over; then nothing is changed.
 */
export async function endMediaJob(trx: Trx, job: MediaJob, result: MediaResult): Promise<boolean> {
  const deleted = await trx
    .deleteFrom("media_jobs")
    .where("request_id", "=", job.request.id)
    .where("fence", "=", job.fence)
    .executeTakeFirst();
  if (deleted.numDeletedRows !== 1n) return false;
  const { id } = job.request;
  await trx
    .insertInto("media_results")
    .values({ request_id: id, result: JSON.stringify(result) })
    .execute();
  await unparkRows(trx, "media_job", [{ id }]);
  return true;
}

/** The requests of results that are not parked, in the order in which they came. */
export async function waitingMediaResults(db: Db, now: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ request_id: string }>`
    select request_id from media_results
     where ${mayBeTried("media_job", sql`request_id`, now)} order by seq limit ${limit}`.execute(db);
  return rows.map(({ request_id }) => request_id);
}

/** What became of a request that waited for content. */
export interface AcceptedResult {
  request: StoredRequest;
  /** null: a relayer may claim the request. */
  failure: Extract<ChainOutcome, { ok: false }> | null;
}

/**
 * Accepts a result: the request names its content and may be claimed, or it fails.
 * @returns null when another process accepts it, or the request does not wait for content.
 * @throws Error when the result does not fit the request. Nothing is changed then.
 */
export async function acceptMediaResult(trx: Trx, requestId: string, now: number): Promise<AcceptedResult | null> {
  const { rows } = await sql<{ result: string; app_id: string; quota: number | null }>`
    select media_results.result, apps.id as app_id, apps.quota_media_bytes as quota from media_results
      join requests on requests.id = media_results.request_id join apps on apps.id = requests.app_id
     where media_results.request_id = ${requestId} ${forUpdateSkipLocked(trx, "media_results")}`.execute(trx);
  const [row] = rows;
  if (row === undefined) return null;
  const quota =
    row.quota === null ? null : ((await lockQuotas(trx, [row.app_id])).get(row.app_id)?.media_bytes ?? null);
  const request = await lockWaiting(trx, requestId);
  await trx.deleteFrom("media_results").where("request_id", "=", requestId).execute();
  if (request === null) return null;
  const result = resultSchema.parse(JSON.parse(row.result));
  if (result.kind === "failed") return fail(trx, request, result, now);
  const command = withContent(request.command, result);
  const files = await hosted(trx, result);
  if (quota !== null && (await exceeds(trx, request.app_id, files, quota))) {
    const message = quotaMessage({ name: "media_bytes", limit: quota });
    return fail(trx, request, { kind: "failed", errorCode: "quota_exceeded", field: "copy_media", message }, now);
  }
  await makeReady(trx, request, command, now);
  await countCopied(trx, request.app_id, files, now);
  return { request, failure: null };
}

/** The request, if it waits for content. Nobody else changes it until the end of the transaction. */
async function lockWaiting(trx: Trx, id: string): Promise<StoredRequest | null> {
  const search = trx.selectFrom("requests").selectAll().where("id", "=", id).where("status", "=", "pending");
  const waiting = search.where("ready_at", "is", null).where("lane", "is", null).where("batch_id", "is", null);
  const row = await waiting.modifyEnd(forUpdate(trx)).executeTakeFirst();
  return row === undefined ? null : toRequest(row);
}

async function fail(
  trx: Trx,
  request: StoredRequest,
  { errorCode, field, message }: MediaFailure,
  now: number,
): Promise<AcceptedResult> {
  const failure: AcceptedResult["failure"] = { ok: false, errorCode, errors: [{ field, code: errorCode, message }] };
  await leaveMediaQueue(trx, [request]);
  await failWithoutEffect(trx, [{ request, outcome: failure }], now);
  return { request, failure };
}

/** The command with its content in it. Nothing else of it changes. @throws Error when the content is not what it needs. */
function withContent(command: Command, result: Exclude<MediaResult, MediaFailure>): Command {
  if (result.kind === "directory") {
    if (command.kind === "freeze-metadata") return { ...command, directory: result.cid };
  } else if ((command.kind === "mint-erc721" || command.kind === "create-erc1155") && command.metadata !== null) {
    const metadata = { ...command.metadata };
    for (const field of MEDIA_FIELDS) {
      const asked = metadata[field] !== undefined && metadata[field] !== "";
      const copied = result.cids[field];
      if (asked !== (copied !== undefined)) throw new Error(`the result of a media job has other fields: ${field}`);
      if (copied !== undefined) metadata[field] = `ipfs://${copied}`;
    }
    return { ...command, metadata };
  }
  throw new Error(`a request of the kind ${command.kind} does not need the content of its media job`);
}

/** The files of a result. @throws Error when any content of it is not hosted here. */
async function hosted(trx: Trx, result: Exclude<MediaResult, MediaFailure>): Promise<StoredMedia[]> {
  const { image, animation_url: animation } = result.kind === "files" ? result.cids : { image: result.cid };
  const named = new Set([image, animation].filter((cid) => cid !== undefined));
  const { rows: pins } = await sql<{ cid: string }>`
    select cid from pins where hosted = 1 and cid in ${textSet(trx, named)}`.execute(trx);
  const { rows: files } = await sql<StoredMedia>`
    select cid, type, size from media where cid in ${textSet(trx, named)}`.execute(trx);
  const found = result.kind === "directory" ? pins.length : Math.min(pins.length, files.length);
  if (found !== named.size) throw new Error("the result of a media job names content that is not hosted here");
  return result.kind === "directory" ? [] : files;
}

/** Whether the files exceed the quota of the app. Files that the app stores already need no room. */
async function exceeds(trx: Trx, appId: string, files: readonly StoredMedia[], quota: number): Promise<boolean> {
  if (files.length === 0) return false;
  const cids = textSet(
    trx,
    files.map((file) => file.cid),
  );
  const { rows: known } = await sql<{ cid: string }>`
    select cid from app_media where app_id = ${appId} and cid in ${cids}`.execute(trx);
  const stored = new Set(known.map((row) => row.cid));
  const more = files.reduce((sum, file) => sum + (stored.has(file.cid) ? 0 : file.size), 0);
  return more > 0 && (await storedBytes(trx, appId)) + more > quota;
}

async function makeReady(trx: Trx, request: StoredRequest, command: Command, now: number): Promise<void> {
  // Metadata that names the content is shorter or longer than what was sent: a `data:` URL becomes a short URI.
  const bytes = storedBytesOf(command, request.unlockable);
  await trx
    .updateTable("requests")
    .set({ command: JSON.stringify(command), stored_bytes: bytes, ready_at: AT_ONCE, updated_at: now })
    .where("id", "=", request.id)
    .execute();
  // A reserved ERC1155 id already has a row.
  if (command.kind === "create-erc1155") await replaceReserved(trx, request.id, command.metadata);
  await leaveMediaQueue(trx, [request]);
  await addToCounter(trx, counterKeys.storedBytes(request.app_id), bytes - request.stored_bytes);
}

async function replaceReserved(trx: Trx, requestId: string, metadata: TokenMetadata | null): Promise<void> {
  await trx
    .updateTable("nfts")
    .set({ metadata: metadata === null ? null : JSON.stringify(metadata) })
    .where("request_id", "=", requestId)
    .where("minted_block", "is", null)
    .execute();
}
