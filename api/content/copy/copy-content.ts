import { type Command, type FreezeMetadata, isMint, MEDIA_FIELDS, type TokenMetadata } from "../../domain/command.ts";
import {
  COLLECTION_FILE,
  publishedCollectionMetadata,
  publishedTokenMetadata,
  tokenFile,
} from "../../domain/metadata-files.ts";
import { quotaMessage } from "../../domain/quota.ts";
import type { Database } from "../../store/db/database.ts";
import type { Db, Trx } from "../../store/db/sql.ts";
import { findCollection } from "../../store/listings/collections.ts";
import type { MediaJob } from "../../store/media/media-jobs.ts";
import { endMediaJob, type MediaFailure, type MediaResult } from "../../store/media/media-results.ts";
import { mediaStoreProblem } from "../../store/media/media-store.ts";
import { hostContent, storedBytes, type StoredMedia } from "../../store/media/media.ts";
import { hasUnsettledMints, hostedTokens } from "../../store/requests/freezing.ts";
import { type BlockStore, BlockStoreUnavailable } from "../block-store.ts";
import { canonicalCid } from "../cids.ts";
import { importDirectory } from "../content.ts";
import { type CopyDeps, copyMedia } from "./copy-media.ts";
import { MediaError } from "./verified-blocks.ts";

/**
 * Records that the content of a job is stored, and ends the job.
 * @param store name of the block store that has the content.
 * @returns false when another process has taken the job over; then nothing is changed.
 */
export async function recordContent(
  trx: Trx,
  job: MediaJob,
  { result, media }: CopiedContent,
  { store, now }: { store: string; now: number },
): Promise<boolean> {
  const moved = await mediaStoreProblem(trx, store);
  if (moved !== null) throw new BlockStoreUnavailable(moved);
  if (!(await endMediaJob(trx, job, result))) return false;
  await hostContent(trx, media, result.kind === "directory" ? [result.cid] : [], now);
  return true;
}

/** The most bytes that a file of the job may have. A larger one is not stored, so it uses no disk space. */
export async function mostBytes(db: Db, job: MediaJob, maxBytes: number): Promise<number> {
  if (job.quota === null) return maxBytes;
  return Math.max(0, Math.min(maxBytes, job.quota - (await storedBytes(db, job.request.app_id))));
}

/** Says why a file was too large: for the service, or for what is left of the app's quota. */
export function explainTooLarge(error: unknown, job: MediaJob, { most, maxBytes }: { most: number; maxBytes: number }) {
  const tooLarge = error instanceof FieldProblem && error.cause.errorCode === "media_too_large";
  return tooLarge && most < maxBytes && job.quota !== null ? usedUp(job.quota, error.field) : error;
}

function usedUp(limit: number, field = "copy_media"): FieldProblem {
  return new FieldProblem(field, new MediaError("quota_exceeded", quotaMessage({ name: "media_bytes", limit })));
}

/** The content of a command, which is stored. */
export interface CopiedContent {
  result: Exclude<MediaResult, MediaFailure>;
  media: StoredMedia[];
}

/** The media of a field cannot be copied. */
export class FieldProblem extends Error {
  override readonly name = "FieldProblem";
  readonly field: string;
  override readonly cause: MediaError;

  constructor(field: string, cause: MediaError) {
    super(cause.message);
    this.field = field;
    this.cause = cause;
  }
}

/**
 * Stores the content that a command needs.
 * @throws FieldProblem, NotSettledYet
 */
export async function copyContent(
  deps: CopyDeps & { database: Database },
  command: Command,
  stop: AbortSignal,
): Promise<CopiedContent> {
  if (command.kind === "freeze-metadata") {
    return { result: { kind: "directory", cid: await makeFrozenDirectory(deps, command, stop) }, media: [] };
  }
  const metadata = metadataToCopy(command);
  const media: StoredMedia[] = [];
  const cids: Partial<Record<(typeof MEDIA_FIELDS)[number], string>> = {};
  for (const field of MEDIA_FIELDS) {
    const url = metadata[field];
    if (url === undefined || url === "") continue;
    const stored = await copyMedia(deps, { url, use: field }, stop).catch((error: unknown) => {
      throw error instanceof MediaError ? new FieldProblem(field, error) : error;
    });
    media.push(stored);
    cids[field] = stored.cid;
  }
  return { result: { kind: "files", cids }, media };
}

/** The metadata with the URIs to copy. Only the id of an ERC1155 token is known before the mint. */
function metadataToCopy(command: Command): TokenMetadata {
  if (!isMint(command) || command.kind === "mint-erc1155" || command.metadata === null) return {};
  return command.kind === "mint-erc721" ? command.metadata : publishedTokenMetadata(command.metadata, command.tokenId);
}

/** Thrown while mints that were accepted earlier are not final. Try again soon. */
export class NotSettledYet extends Error {
  override readonly name = "NotSettledYet";
}

/** Stores the metadata of a collection and of all its tokens as one IPFS directory. @returns its CID. @throws NotSettledYet */
async function makeFrozenDirectory(
  deps: { database: Database; blocks: BlockStore },
  command: FreezeMetadata,
  stop: AbortSignal,
): Promise<string> {
  const db = deps.database.read;
  const collection = await findCollection(db, command.collection);
  if (collection === undefined || (await hasUnsettledMints(db, command.collection))) throw new NotSettledYet();
  const files = async function* () {
    yield { path: COLLECTION_FILE, content: jsonOf(publishedCollectionMetadata(collection)) };
    for await (const { token_id: id, metadata } of hostedTokens(db, command.collection)) {
      stop.throwIfAborted();
      yield { path: tokenFile(command.type, id), content: jsonOf(publishedTokenMetadata(metadata, id)) };
    }
  };
  return canonicalCid(await importDirectory(deps.blocks, files()));
}

function jsonOf(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
