import { faultOfMedia } from "../../client/rules/media.ts";
import { type Limits, UPLOADS } from "../config/limits.ts";
import { type BlockStore, BlockStoreUnavailable, isStorageFault } from "../content/block-store.ts";
import { type StoredFile, storeFile } from "../content/content.ts";
import { ApiError } from "../domain/error-codes.ts";
import { bounded } from "../shared/bounded.ts";
import { FairShares } from "../shared/fair-shares.ts";
import { holdApps } from "../store/apps/apps.ts";
import { readQuotaUse } from "../store/apps/quotas.ts";
import type { Database } from "../store/db/database.ts";
import type { Db, Trx } from "../store/db/sql.ts";
import { mediaStoreProblem } from "../store/media/media-store.ts";
import { countCopied, hostContent, isStored, storedBytes } from "../store/media/media.ts";
import { AppQuotas, overQuota } from "./app-quotas.ts";
import { declaredType, requireType } from "./declared-type.ts";

interface UploadDeps {
  database: Database;
  blocks: BlockStore;
  settings: { limits: Pick<Limits, "mediaBytes"> };
  uploads: UploadPlaces;
}

/** A file as a caller sends it. */
export interface SentFile {
  /** The declared media type; null without one. */
  type: string | null;
  /** The declared length in bytes; null without one. */
  length: number | null;
  /** The bytes, once. */
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Stores a file by its content, in the same way as `copy_media` does: the same bytes have the same CID. Repeating an upload
 * changes nothing.
 * @throws ApiError, BlockStoreUnavailable
 */
export async function uploadMedia(deps: UploadDeps, appId: string, sent: SentFile): Promise<StoredFile> {
  const declared = declaredType(sent.type);
  return deps.uploads.run(appId, async () => {
    const { read } = deps.database;
    const { mediaBytes } = deps.settings.limits;
    const bound = largestFile(mediaBytes, (await readQuotaUse(read, appId)).media_bytes.limit);
    if (sent.length !== null && sent.length > bound.bytes) throw bound.refusal;
    const source = { bytes: bounded(sent.bytes, bound.bytes, () => bound.refusal), length: sent.length };
    const file = await store(deps.blocks, source, async (found) => {
      if (faultOfMedia("any", found) !== null) throw emptyBody();
      requireType(declared, found.type);
      await requireFits(read, appId, found, mediaBytes);
    });
    await deps.database.write((trx) => recordUpload(trx, deps.blocks.name, { appId, file }));
    return file;
  });
}

/** @throws ApiError when the file is above the limit of the service, or does not fit into the quota of the app now. */
export async function requireFits(db: Db, appId: string, { cid, size }: StoredFile, most: number): Promise<void> {
  const { used, limit } = (await readQuotaUse(db, appId)).media_bytes;
  const bound = largestFile(most, limit);
  if (size > bound.bytes) throw bound.refusal;
  // A file that the app stores already needs no room: a caller that lost the answer gets it again.
  if (limit === null || size <= limit - used || (await isStored(db, appId, cid))) return;
  throw overQuota({ name: "media_bytes", limit });
}

/** How many bytes a file may have, and the error of a larger one. */
interface Bound {
  bytes: number;
  refusal: ApiError;
}

/** A file above the whole quota, or above the limit of the service, is not read to its end. */
function largestFile(most: number, quota: number | null): Bound {
  if (quota !== null && quota < most)
    return { bytes: quota, refusal: overQuota({ name: "media_bytes", limit: quota }) };
  const message = `The file is larger than ${most.toString()} bytes, the limit of this service (MAX_MEDIA_BYTES). Send a smaller file.`;
  return { bytes: most, refusal: new ApiError("payload_too_large", null, { message }) };
}

function emptyBody(): ApiError {
  const message = "Must be the bytes of a file. This body is empty.";
  return new ApiError("validation_failed", [{ field: "body", code: "required", message }]);
}

/** A full disk or a failing bucket is a fault of the service. */
async function store(
  blocks: BlockStore,
  { bytes, length }: Pick<SentFile, "bytes" | "length">,
  check: (file: StoredFile) => Promise<void>,
) {
  try {
    return await storeFile(blocks, bytes, check, length ?? 0);
  } catch (error) {
    if (error instanceof BlockStoreUnavailable || !isStorageFault(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BlockStoreUnavailable(`the uploaded file cannot be stored: ${reason}`, { cause: error });
  }
}

/**
 * The app stores a file whose blocks are in the store of this name.
 * @throws ApiError `quota_exceeded` when other files have used up the quota in the meantime. @throws BlockStoreUnavailable
 */
export async function recordUpload(
  trx: Trx,
  store: string,
  { appId, file }: { appId: string; file: StoredFile },
): Promise<void> {
  const problem = await mediaStoreProblem(trx, store);
  if (problem !== null) throw new BlockStoreUnavailable(problem);
  const apps = await holdApps(trx, [appId]);
  // The app was removed while the file arrived.
  if (!apps.has(appId)) throw new ApiError("unauthorized");
  const quotas = await AppQuotas.lock(trx, apps, [{ appId, needs: { media_bytes: 1 } }]);
  const before = await storedBytes(trx, appId);
  const now = Date.now();
  await hostContent(trx, [file], [], now);
  await countCopied(trx, appId, [file], now);
  // A file that the app stores already needs no room.
  quotas.require(appId, { media_bytes: (await storedBytes(trx, appId)) - before });
}

/** Seconds after which a place may be free. */
const RETRY_AFTER = 1;

/** The uploads that run in this process. The apps share the places, and each app can always get one. */
export class UploadPlaces {
  /** The app of each upload. */
  readonly #running: string[] = [];

  /** Runs an upload in a place of the app. @throws ApiError `rate_limited` when the app has no free place. */
  async run<T>(appId: string, upload: () => Promise<T>): Promise<T> {
    if (!new FairShares(UPLOADS, this.#running).take(appId)) {
      const message = `Too many uploads of the app run at the same time. At most ${UPLOADS.ofApp.toString()} may. Send the file again when one of them has ended.`;
      throw new ApiError("rate_limited", null, { retryAfter: RETRY_AFTER, message });
    }
    this.#running.push(appId);
    try {
      return await upload();
    } finally {
      this.#running.splice(this.#running.indexOf(appId), 1);
    }
  }
}
