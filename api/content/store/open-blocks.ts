import { randomUUID } from "node:crypto";
import { join } from "node:path";

import type { MediaStoreSetting } from "../../config/media-store.ts";
import { forEachAtOnce, inPages } from "../../shared/at-once.ts";
import type { Database } from "../../store/db/database.ts";
import { deleteBytes, insertBytes, readBytes } from "../../store/media/blocks.ts";
import { BlockFiles, DiskRoom } from "../block-files.ts";
import { type BlockStore, BlockStoreUnavailable } from "../block-store.ts";
import { IndexedBlocks, type ObjectStore } from "./indexed-blocks.ts";
import { type Bucket, type S3Answer, S3Client } from "./s3-client.ts";

/**
 * Opens a block store. Nothing is created or checked yet.
 * @param keepFree bytes of the disk of `dataDir` that new blocks leave free; null: they may fill it.
 */
export function openBlocks(
  setting: MediaStoreSetting,
  { dataDir, database, keepFree = null }: { dataDir: string; database: Database; keepFree?: number | null },
): { blocks: BlockStore; close: () => Promise<void> } {
  const local = new BlockFiles(join(dataDir, "blocks"), keepFree === null ? null : new DiskRoom(dataDir, keepFree));
  const indexed = (objects: ObjectStore) => new IndexedBlocks({ database, objects, local, now: () => Date.now() });
  switch (setting.kind) {
    case "files":
      return { blocks: local, close: () => Promise.resolve() };
    case "database":
      return { blocks: indexed(new DatabaseObjects(database)), close: () => Promise.resolve() };
    case "s3": {
      const objects = new S3Objects(setting.bucket);
      return { blocks: indexed(objects), close: () => objects.close() };
    }
  }
}

/** Objects that are deleted in one transaction. Each has up to 2 MiB. */
const AT_ONCE = 50;

/** Bytes of blocks in the database. */
class DatabaseObjects implements ObjectStore {
  readonly name = "database";
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  put(object: string, bytes: Uint8Array): Promise<void> {
    return this.#database.write((trx) => insertBytes(trx, object, bytes));
  }

  get(object: string): Promise<Uint8Array | null> {
    return readBytes(this.#database.read, object);
  }

  async delete(objects: readonly string[]): Promise<void> {
    for await (const some of inPages(objects, AT_ONCE)) await this.#database.write((trx) => deleteBytes(trx, some));
  }

  /** The service cannot start without its database. */
  problem(): Promise<null> {
    return Promise.resolve(null);
  }
}

/** Deletions at once. */
const DELETIONS = 8;

/** Bytes of blocks as objects in an S3-compatible bucket. */
export class S3Objects implements ObjectStore {
  readonly name: string;
  readonly #bucket: Bucket;
  readonly #client: S3Client;

  /** @param client replaced in tests. */
  constructor(bucket: Bucket, client = new S3Client(bucket)) {
    this.#bucket = bucket;
    this.#client = client;
    this.name = `s3://${bucket.bucket}/${bucket.prefix}`;
  }

  async put(object: string, bytes: Uint8Array): Promise<void> {
    const answer = await this.#client.send("PUT", object, bytes);
    if (answer.status !== 200) throw this.#refused(answer);
  }

  async get(object: string): Promise<Uint8Array | null> {
    const answer = await this.#client.send("GET", object);
    if (answer.status === 200) return answer.body;
    if (answer.code === "NoSuchKey") return null;
    throw this.#refused(answer);
  }

  async delete(objects: readonly string[]): Promise<void> {
    await forEachAtOnce(objects, DELETIONS, (object) => this.#delete(object));
  }

  /** Stores a small object, reads it back and deletes it. */
  async problem(): Promise<string | null> {
    try {
      const bytes = Buffer.from("Moneta checks with this object that it can store media here.\n");
      const probe = `check-${randomUUID()}`;
      await this.put(probe, bytes);
      const stored = await this.get(probe);
      await this.delete([probe]);
      if (stored === null || Buffer.compare(stored, bytes) !== 0) {
        return `${this.name} does not return what was stored. Check that the server at ${this.#bucket.endpoint} is S3-compatible.`;
      }
      return null;
    } catch (error) {
      if (error instanceof BlockStoreUnavailable) return error.message;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #delete(object: string): Promise<void> {
    const answer = await this.#client.send("DELETE", object);
    if (answer.status !== 204 && answer.status !== 200 && answer.code !== "NoSuchKey") throw this.#refused(answer);
  }

  #refused(answer: S3Answer): BlockStoreUnavailable {
    return new BlockStoreUnavailable(wordsFor(answer, this.#bucket));
  }
}

/** Says what is wrong and what to do about it. */
function wordsFor({ status, code, region }: S3Answer, bucket: Bucket): string {
  const name = `The bucket "${bucket.bucket}" at ${bucket.endpoint}`;
  if (region !== null && region !== bucket.region && (status === 301 || status === 307 || status === 400)) {
    return `${name} is in the region ${region}, not ${bucket.region}: set AWS_REGION=${region}.`;
  }
  switch (code) {
    case "NoSuchBucket":
      return `${name} does not exist. Create it, or correct MEDIA_STORE.`;
    case "InvalidAccessKeyId":
      return `${name} does not know the access key: correct AWS_ACCESS_KEY_ID.`;
    case "SignatureDoesNotMatch":
      return `${name} refused the signature: correct AWS_SECRET_ACCESS_KEY, and AWS_REGION (now ${bucket.region}).`;
    case "RequestTimeTooSkewed":
      return `${name} refused the time of the request: set the clock of this machine.`;
    case "ExpiredToken":
      return `${name} refused the session token because it has expired: renew AWS_SESSION_TOKEN.`;
  }
  if (status === 401 || status === 403) {
    return `${name} refused access (${code === "" ? status.toString() : code}): give the access key the rights to read, write and delete objects.`;
  }
  return `${name} answered ${status.toString()} ${code}`.trim() + ".";
}
