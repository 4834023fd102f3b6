import { type Command, type FreezeMetadata, isMint, MEDIA_FIELDS, type TokenMetadata } from "../../domain/command.ts";
import {
  COLLECTION_FILE,
  publishedCollectionMetadata,
  publishedTokenMetadata,
  tokenFile,
} from "../../domain/metadata-files.ts";
import { quotaMessage } from "../../domain/quota.ts";
import { MediaError } from "../../outbound/download.ts";
import type { Database } from "../../store/db/database.ts";
import { findCollection } from "../../store/listings/collections.ts";
import type { MediaJob } from "../../store/media/media-jobs.ts";
import type { MediaFailure, MediaResult } from "../../store/media/media-results.ts";
import { storedBytes, type StoredMedia } from "../../store/media/media.ts";
import { hasUnsettledMints, hostedTokens } from "../../store/requests/freezing.ts";
import type { BlockStore } from "../block-store.ts";
import { canonicalCid } from "../cids.ts";
import { importDirectory } from "../content.ts";
import { type CopyDeps, copyMedia } from "./copy-media.ts";

/** The content of a command, which is stored. */
export interface CopiedContent {
  result: Exclude<MediaResult, MediaFailure>;
  media: StoredMedia[];
}

/**
 * Stores the content that the request of a job needs.
 * @throws MediaError, NotSettledYet
 */
export async function copyContent(
  deps: CopyDeps & { database: Database },
  { request: { app_id: appId, command }, quota }: MediaJob,
  stop: AbortSignal,
): Promise<CopiedContent> {
  if (command.kind === "freeze-metadata") {
    return { result: { kind: "directory", cid: await makeFrozenDirectory(deps, command, stop) }, media: [] };
  }
  const left = quota === null ? Infinity : Math.max(0, quota - (await storedBytes(deps.database.read, appId)));
  // A file above the quota of the app is not stored, so it uses no disk space.
  const copying = { ...deps, maxBytes: Math.min(deps.maxBytes, left) };
  const metadata = metadataToCopy(command);
  const media: StoredMedia[] = [];
  const cids: Partial<Record<(typeof MEDIA_FIELDS)[number], string>> = {};
  for (const field of MEDIA_FIELDS) {
    const url = metadata[field];
    if (url === undefined || url === "") continue;
    const stored = await copyMedia(copying, { url, use: field }, stop).catch((error: unknown) => {
      if (!(error instanceof MediaError)) throw error;
      const overQuota = error.errorCode === "media_too_large" && quota !== null && left < deps.maxBytes;
      const words = overQuota ? quotaMessage({ name: "media_bytes", limit: quota }) : null;
      const problem = words === null ? error : new MediaError("quota_exceeded", words);
      problem.field = field;
      throw problem;
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
