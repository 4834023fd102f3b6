import { existsSync } from "node:fs";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { type Database, openDatabase } from "../../api/store/db/database.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";
import { TEST_ENGINE } from "./engine.ts";
import { temporaryFolder } from "./folder.ts";
import { createPostgresDatabase } from "./shared-postgres.ts";

const FILE = "moneta.sqlite";
let template: Promise<string> | null = null;

/** A database that nobody else uses, and that nobody has opened yet. */
export interface DatabasePlace {
  url: string;
  /** Whether anybody has opened it. */
  isOpen(): Promise<boolean>;
  /** Keeps a copy of the database, which must be closed. @returns a function that puts the copy in its place. */
  backUp(): Promise<() => Promise<void>>;
  remove(): Promise<void>;
}

/** A new database of the run's engine. */
export interface TestDatabase extends Database {
  url: string;
  /** Closes it and removes it. */
  remove(): Promise<void>;
}

interface PlaceOptions {
  /** Where SQLite keeps it, as in a DATA_DIR; the caller removes the folder. By default a folder of its own. */
  folder?: string;
  /** "none": nobody has migrated it; on SQLite there is no file yet. "newest": a copy of a migrated one, which is faster. */
  schema?: "none" | "newest";
}

/** For a test that opens the database itself, or lets a service open it. */
export async function createTestDatabase({ folder, schema = "newest" }: PlaceOptions = {}): Promise<DatabasePlace> {
  if (TEST_ENGINE === "postgres") return createPostgresDatabase(schema === "none" ? "none" : "migrated");
  const own = folder === undefined ? await temporaryFolder() : null;
  const url = `file:${join(folder ?? own?.path ?? "", FILE)}`;
  if (schema === "newest") {
    if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyFile(await (template ??= migrateTemplate()), fileOf(url));
  }
  return placeAt(url, () => own?.remove() ?? Promise.resolve());
}

/** @returns a SQLite file with the newest schema and no rows, which the databases of tests are copies of. */
async function migrateTemplate(): Promise<string> {
  const folder = await temporaryFolder();
  atEndOfRun(async () => {
    template = null;
    await folder.remove();
  });
  const file = join(folder.path, FILE);
  // Closing moves the write-ahead log into the file.
  await (await openDatabase(`file:${file}`)).close();
  return file;
}

function placeAt(url: string, remove: () => Promise<void>): DatabasePlace {
  const file = fileOf(url);
  let copies = 0;
  return {
    url,
    // SQLite removes this file when the last connection is closed.
    isOpen: () => Promise.resolve(existsSync(`${file}-wal`)),
    backUp: async () => {
      const copy = `${file}.copy-${(++copies).toString()}`;
      // Opening and closing the database moves the write-ahead log of a killed process into the file.
      await (await openDatabase(url)).close();
      await copyFile(file, copy);
      return async () => {
        for (const suffix of ["", "-wal", "-shm"]) await rm(file + suffix, { force: true });
        await copyFile(copy, file);
      };
    },
    remove,
  };
}

/** The file of a SQLite database, for tests about database files: see `describeOn`. */
export function fileOf(url: string): string {
  if (!url.startsWith("file:")) throw new Error("A database on PostgreSQL has no file.");
  return url.slice("file:".length);
}

export async function openTestDatabase(): Promise<TestDatabase> {
  const place = await createTestDatabase();
  const database = await openDatabase(place.url);
  return {
    ...database,
    url: place.url,
    remove: async () => {
      await database.close();
      await place.remove();
    },
  };
}
