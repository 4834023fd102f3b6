import { existsSync } from "node:fs";
import { mkdir, open, readdir, realpath, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";

import packageJson from "../../../package.json" with { type: "json" };
import type { Settings } from "../../config/settings.ts";
import { BlockFiles } from "../../content/block-files.ts";
import { isAbsent } from "../../shared/folder.ts";
import { hashFile, readRegular, writeHashed } from "../../shared/hashed-files.ts";
import { syncFile, syncFolder } from "../../shared/write-new-file.ts";
import { openExistingDatabase } from "../../store/db/database.ts";
import type { Db } from "../../store/db/sql.ts";
import { importedKeysOf, readMeta, writeMeta } from "../../store/db/meta.ts";
import { appliedMigrations, MIGRATIONS, unknownMigrations } from "../../store/db/migrate.ts";
import { readMediaPlace } from "../../store/media/media-store.ts";
import { countAllRows, differentCounts } from "../../store/move/tables.ts";
import { checkSqliteFile } from "../../store/move/restore-place.ts";
import { openSnapshot, type Snapshot } from "../../store/move/snapshot.ts";
import { endNewFolder, makeNewFolder } from "../new-folder.ts";
import { OperatorError } from "../operator-error.ts";
import { copyNeededBlocks, explainingDisk } from "./copy-blocks.ts";
import { BLOCK_LIST, BLOCKS, createdNow, DATABASE_FILES, type Manifest, writeManifest } from "./manifest.ts";
import { countDumpedRows, dumpPostgres, type PostgresPrograms } from "./postgres-programs.ts";

type BackupSettings = Pick<Settings, "databaseUrl" | "dataDir" | "deploymentsDir" | "mediaStore">;

interface BackupDeps {
  settings: BackupSettings;
  programs: PostgresPrograms;
  /** Says what is being done. The backup goes on when it has resolved. */
  report: (step: string) => Promise<void>;
}

/**
 * Makes a backup in an empty folder, while the service runs. The database is copied first, from one snapshot; then every
 * block that this copy names. A block that a garbage collection deletes in between is missed: then both are done again.
 * @throws OperatorError, DatabaseError
 */
export async function backUp(deps: BackupDeps, to: string): Promise<Manifest> {
  const folder = await makeNewFolder(resolve(to), deps.settings, "backup");
  return explainingDisk("The backup was not finished", () => copyTwiceIfNeeded(deps, folder));
}

async function copyTwiceIfNeeded(deps: BackupDeps, folder: string): Promise<Manifest> {
  const first = await copyAll(deps, folder);
  if (first.media.damaged.length === 0) return finish(deps, folder, first);
  await deps.report(
    "Blocks of hosted content are missing. The database is copied again, because they may have been deleted since.",
  );
  await rm(join(folder, DATABASE_FILES[first.engine]));
  await rm(join(folder, BLOCK_LIST), { force: true });
  return finish(deps, folder, await copyAll(deps, folder));
}

async function copyAll(deps: BackupDeps, folder: string): Promise<Manifest> {
  const { settings, report } = deps;
  await using opened = new AsyncDisposableStack();
  const snapshot = opened.adopt(await openSnapshot(settings.databaseUrl, "shared"), (one) => one.close());
  const { db, engine } = snapshot;
  const schema = await appliedMigrations(db);
  if (unknownMigrations(schema).length > 0)
    throw new OperatorError("The database is from a newer version of Moneta. Make the backup with that version.");
  const [id, genesis] = [await readMeta(db, "chain_id"), await readMeta(db, "genesis")];
  const block = Number(await readMeta(db, "checkpoint"));
  const chain = id === null || genesis === null ? null : { id, genesis, block };
  await report("Copying the database");
  const database = await copyDatabase(deps, snapshot, join(folder, DATABASE_FILES[engine]));
  const media = await copyMedia(deps, db, folder);
  const deployment = chain === null ? null : await copyDeployment(settings.deploymentsDir, `${chain.id}.json`, folder);
  const server = snapshot.engine === "postgres" ? snapshot.server : null;
  const keys = IMPORTED_KEYS in database.rows ? { imported_keys: await importedKeysOf(db) } : {};
  const made = { ...createdNow(), moneta: packageJson.version, engine, server, schema, chain };
  return { ...made, database, ...keys, media, deployment };
}

/** Databases of earlier versions have no such table. */
const IMPORTED_KEYS = "imported_keys";

/** `doctor` warns of keys that are in no backup. A database of an earlier version is not opened: that would update its tables. */
async function rememberKeys({ settings }: BackupDeps, { imported_keys: keys, schema }: Manifest): Promise<void> {
  if (keys === undefined || keys.count === 0 || schema.length < Object.keys(MIGRATIONS).length) return;
  const database = await openExistingDatabase(settings.databaseUrl);
  try {
    await database.write((trx) => writeMeta(trx, "imported_keys_saved", keys.newest.toString()));
  } finally {
    await database.close();
  }
}

/** Copies the snapshot, and compares the rows of the copy with it. */
async function copyDatabase(
  { programs, settings, report }: BackupDeps,
  snapshot: Snapshot,
  file: string,
): Promise<Manifest["database"]> {
  const rows = await countAllRows(snapshot.db);
  const compare = (found: Record<string, number>) => {
    const different = differentCounts(rows, found);
    if (different !== null) throw new OperatorError(`The copy differs from the database (rows of ${different}).`);
  };
  if (snapshot.engine === "postgres") {
    const { name, server } = snapshot;
    const digest = await dumpPostgres(programs, { url: settings.databaseUrl, snapshot: name, server }, file);
    await report("Checking the copy");
    const dumped = await countDumpedRows(programs, file);
    compare(Object.fromEntries(Object.keys(rows).map((table) => [table, dumped[table] ?? 0])));
    return { ...digest, rows };
  }
  // The file gets its mode before it gets its content.
  await (await open(file, "wx", 0o600)).close();
  await snapshot.copyTo(file);
  await report("Checking the copy");
  const { problems, rows: found } = await checkSqliteFile(file);
  if (problems.length > 0) {
    throw new OperatorError(
      `The database is damaged: ${problems.join("; ")}. This backup was not finished. Keep the last good one, and restore it.`,
    );
  }
  compare(found);
  await syncFile(file);
  return { ...(await hashFile(file)), rows };
}

/** Copies the blocks if they are in files. In the database they are copied already; a bucket has back-ups of its own. */
async function copyMedia({ settings, report }: BackupDeps, db: Db, folder: string): Promise<Manifest["media"]> {
  const { store, movingFrom } = await readMediaPlace(db);
  if (movingFrom !== null) {
    throw new OperatorError(
      `Hosted media are being moved from ${movingFrom} to ${store ?? ""}. Make the backup when \`media move\` has ended.`,
    );
  }
  if (store !== "files") return { store, list: null, damaged: [] };
  if (settings.mediaStore.kind !== "files") {
    throw new OperatorError("Hosted media are in files, but MEDIA_STORE says otherwise. Correct MEDIA_STORE.");
  }
  await report("Copying hosted media");
  const target = join(folder, BLOCKS);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const source = new BlockFiles(join(settings.dataDir, BLOCKS));
  const { blocks, damaged } = await copyNeededBlocks(db, source, new BlockFiles(target));
  await syncTree(target);
  const cids = [...blocks.keys()].sort();
  const lines = Readable.from(cids).map((cid: string) => Buffer.from(`${cid}\n`));
  const list = await writeHashed(join(folder, BLOCK_LIST), lines);
  const bytes = [...blocks.values()].reduce((sum, size) => sum + size, 0);
  return { store, list: { ...list, blocks: cids.length, block_bytes: bytes }, damaged };
}

async function copyDeployment(from: string, file: string, folder: string): Promise<Manifest["deployment"]> {
  const target = join(folder, file);
  await rm(target, { force: true });
  const source = join(from, file);
  if (!existsSync(source)) return null;
  return { file, ...(await writeHashed(target, readRegular(await realpath(source)))) };
}

async function finish(deps: BackupDeps, folder: string, manifest: Manifest): Promise<Manifest> {
  await endNewFolder(folder);
  await writeManifest(folder, manifest);
  await rememberKeys(deps, manifest);
  return manifest;
}

/** Flushes the names of all files in a folder to disk. Their contents are there already. */
async function syncTree(folder: string): Promise<void> {
  try {
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory()) await syncTree(join(folder, entry.name));
    await syncFolder(folder);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}
