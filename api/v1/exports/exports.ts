import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import type { Response } from "express";

import { EXPORT_TAKEN, type Limits } from "../../config/limits.ts";
import { BlockStoreUnavailable, isStorageFault } from "../../content/block-store.ts";
import { DiskReserve } from "../../content/block-files.ts";
import { SLICE } from "../../content/shared-files.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { makeFolder } from "../../shared/folder.ts";
import type { Database } from "../../store/db/database.ts";
import { checkpointOf } from "../../store/db/meta.ts";
import type { Db } from "../../store/db/sql.ts";
import type { HeldBytes } from "../held-bytes.ts";
import { type ExportRow, formatOf, type RowFormat } from "./row-formats.ts";

/** `Retry-After` in seconds when an export is too large for now. */
const RETRY_AFTER = 60;

/** What is exported. */
export interface ExportedListing {
  /** Begins the name of the file. */
  name: string;
  columns: readonly string[];
  /** All rows, in parts that one statement each reads. */
  rows: (db: Db) => AsyncIterable<ExportRow[]>;
}

/** Who exports, and what is needed for it. */
interface ExportCall {
  appId: string;
  database: Pick<Database, "read" | "snapshot">;
  bytes: Pick<HeldBytes, "hold">;
  /** Called when the rows are read: the caller may not be allowed any more. @throws ApiError */
  stillValid: () => Promise<void>;
}

/**
 * Sends whole listings. Rows are read from one snapshot into a temporary file, and sent from there: a caller that reads slowly
 * keeps no snapshot open, which would keep SQLite from shortening its log and PostgreSQL from removing old rows.
 *
 * A file has no name once it is open. So it is gone when it is closed, also when the process is killed, and processes that share
 * the folder do not see the files of each other.
 */
export class Exports {
  readonly #folder: string;
  readonly #disk: DiskReserve;
  readonly #limits: Pick<Limits, "exportBytes" | "exportSeconds">;

  /** @param dataDir where the files are. */
  constructor(dataDir: string, limits: Pick<Limits, "exportBytes" | "exportSeconds" | "freeDiskBytes">) {
    this.#folder = join(dataDir, "exports");
    this.#disk = new DiskReserve(this.#folder, limits.freeDiskBytes);
    this.#limits = limits;
  }

  /**
   * Answers a call with a listing, and returns when the caller has taken it, or is gone.
   * @throws ApiError `validation_failed`, `unavailable`, `quota_exceeded`; BlockStoreUnavailable.
   */
  async send(response: Response, call: ExportCall, listing: ExportedListing): Promise<void> {
    const format = formatOf(response.req);
    response.vary("Accept");
    if (response.req.method === "HEAD") {
      describe(response, format, listing.name, await checkpointOf(call.database.read)).end();
      return;
    }
    await using file = await this.#openFile();
    const { block, size } = await this.#read(file, format, { response, call, listing });
    await call.stillValid();
    describe(response, format, listing.name, block).set("Content-Length", size.toString());
    call.bytes.hold(response, call, SLICE);
    await sendFile(response, file, size);
  }

  async #openFile(): Promise<FileHandle> {
    return stored(async () => {
      makeFolder(this.#folder);
      const path = join(this.#folder, randomUUID());
      const file = await open(path, "wx+", 0o600);
      await unlink(path);
      return file;
    });
  }

  /** Writes all rows. @returns the block as of which they are, and the bytes of the file. */
  async #read(
    file: FileHandle,
    format: RowFormat,
    { response, call, listing }: { response: Response; call: ExportCall; listing: ExportedListing },
  ): Promise<{ block: number; size: number }> {
    const { exportBytes: most, exportSeconds: seconds } = this.#limits;
    const deadline = performance.now() + seconds * 1_000;
    let size = 0;
    // Other calls get their turn while the system writes.
    const write = async (text: string) => {
      const part = Buffer.from(text);
      size += part.length;
      if (size > most) throw tooLarge(`has more than ${most.toString()} bytes`);
      await this.#disk.reserve(part.length);
      try {
        await stored(() => file.writeFile(part));
      } finally {
        this.#disk.release(part.length);
      }
    };
    return call.database.snapshot(async (db) => {
      const block = await checkpointOf(db);
      await write(format.head(listing.columns));
      for await (const rows of listing.rows(db)) {
        if (response.closed || response.req.socket.destroyed) throw new ApiError("request_timeout");
        if (performance.now() > deadline) throw tooLarge(`takes more than ${seconds.toString()} seconds`);
        await write(rows.map((row) => format.row(row)).join(""));
      }
      return { block, size };
    });
  }
}

/** The headers of an answer. The name of the file has the block, too, because headers are lost when a file is saved. */
function describe(response: Response, { type, extension }: RowFormat, name: string, block: number): Response {
  const file = `${name}-block-${block.toString()}.${extension}`;
  return response
    .set("Content-Type", `${type}; charset=utf-8`)
    .set("Content-Disposition", `attachment; filename="${file}"`)
    .set("Cache-Control", "no-store")
    .set("Moneta-As-Of-Block", block.toString());
}

/** Sends the file as fast as the caller reads it. A caller that is too slow is disconnected: others wait for the place. */
async function sendFile(response: Response, file: FileHandle, size: number): Promise<void> {
  const seconds = EXPORT_TAKEN.seconds + Math.ceil(size / EXPORT_TAKEN.bytesPerSecond);
  const source = file.createReadStream({ start: 0, autoClose: false, highWaterMark: SLICE });
  try {
    await pipeline(source, response, { signal: AbortSignal.timeout(seconds * 1_000) });
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

function tooLarge(problem: string): ApiError {
  const message = `The export ${problem}, which is the limit. Read the pages of the listing instead.`;
  return new ApiError("quota_exceeded", null, { retryAfter: RETRY_AFTER, message });
}

/** A full or broken disk is a fault of the service. */
async function stored<T>(access: () => Promise<T>): Promise<T> {
  try {
    return await access();
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BlockStoreUnavailable(`the temporary file of an export cannot be written: ${reason}`, { cause: error });
  }
}
