import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, readdir, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { makeFolder } from "../../shared/folder.ts";
import { readRegular, writeHashed } from "../../shared/hashed-files.ts";
import { syncFile, syncFolder } from "../../shared/write-new-file.ts";
import { revokeAllConsoleSessions } from "../../store/apps/console-sessions.ts";
import { openDatabase, pathOf } from "../../store/db/database.ts";
import type { Trx } from "../../store/db/sql.ts";
import {
  changeSqliteFile,
  checkSqliteFile,
  finishPostgres,
  forgetProcesses,
  beginPostgres,
} from "../../store/move/restore-place.ts";
import { differentCounts } from "../../store/move/tables.ts";
import { skipFeeds } from "../../store/reconcile/recovered-app.ts";
import { OperatorError } from "../operator-error.ts";
import { type Backup, damaged, DATABASE_FILES, explained, requirePart, requireSame } from "./manifest.ts";
import { loadPostgres, type PostgresPrograms, requireVersion } from "./postgres-programs.ts";

/**
 * Restores a PostgreSQL database: everything is loaded in one transaction. Until the end the database has a mark, with which
 * no service starts.
 * @param others restores the other parts, before the service can start.
 */
export async function restorePostgres<T>(
  url: string,
  { folder, manifest }: Backup,
  { programs, report }: { programs: PostgresPrograms; report: (step: string) => void },
  others: () => Promise<T>,
): Promise<T> {
  const part = DATABASE_FILES.postgres;
  report("Checking the backup");
  await requirePart(folder, part, manifest.database);
  await requireVersion(programs, "pg_restore", manifest.server ?? "");
  await beginPostgres(url);
  const result = await others();
  report("Restoring the database");
  await loadPostgres(programs, url, join(folder, part));
  await finishPostgres(url, async (trx, rows) => {
    const different = differentCounts(manifest.database.rows, rows);
    if (different === null) return afterRestore(trx);
    throw new OperatorError(
      `The restored database has other rows than the backup: ${different}. Restore another backup.`,
    );
  });
  await bringUpToDate(url);
  return result;
}

/** SQLite's companion files. It would take those of an earlier database for parts of the restored one. */
const COMPANIONS = ["-wal", "-shm", "-journal"];
/** The database has such a name, beside its place, until everything is restored. */
const UNFINISHED = ".restoring-";

/**
 * Restores a SQLite database: copied under another name, checked, and renamed at the end.
 * @param others restores the other parts, before the database gets its name.
 */
export async function restoreSqlite<T>(
  url: string,
  { folder, manifest }: Backup,
  report: (step: string) => void,
  others: () => Promise<T>,
): Promise<T> {
  const target = pathOf(url);
  const part = DATABASE_FILES.sqlite;
  makeFolder(dirname(target));
  requireFree(target);
  await removeUnfinished(target);
  const draft = `${target}${UNFINISHED}${randomUUID()}`;
  try {
    report("Restoring the database");
    const source = readRegular(join(folder, part));
    requireSame(folder, part, manifest.database, await explained(folder, part, () => writeHashed(draft, source)));
    const { problems, rows } = await checkSqliteFile(draft);
    if (problems.length > 0) throw damaged(folder, part, `has errors: ${problems.join("; ")}`);
    const different = differentCounts(manifest.database.rows, rows);
    if (different !== null) throw damaged(folder, part, `has other rows than the manifest says: ${different}`);
    const result = await others();
    await changeSqliteFile(draft, afterRestore);
    await bringUpToDate(`file:${draft}`);
    await syncFile(draft);
    // Unlike a rename, this fails when a database has appeared meanwhile.
    await link(draft, target);
    await unlink(draft);
    await syncFolder(dirname(target));
    return result;
  } finally {
    for (const suffix of ["", ...COMPANIONS]) await rm(draft + suffix, { force: true });
  }
}

/** @throws OperatorError when a database is there, or a part of one. */
function requireFree(target: string): void {
  const present = ["", ...COMPANIONS].map((suffix) => target + suffix).filter((file) => existsSync(file));
  if (present.length === 0) return;
  throw new OperatorError(
    `There is a database already: ${present.join(", ")}. Make sure that the service is stopped, and move ${present.length === 1 ? "this file" : "these files"} to ` +
      "another folder, or restore into another DATA_DIR. Nothing was changed.",
  );
}

/** Removes what interrupted restores have left. */
async function removeUnfinished(target: string): Promise<void> {
  const start = basename(target) + UNFINISHED;
  for (const name of await readdir(dirname(target))) {
    if (name.startsWith(start)) await rm(join(dirname(target), name), { force: true });
  }
}

/** What a restored database must not take from its backup: positions of feeds that were handed out since, and processes. */
async function afterRestore(trx: Trx): Promise<void> {
  await skipFeeds(trx);
  await forgetProcesses(trx);
}

/** Brings the tables up to date. Then it ends the console's sessions, because some were perhaps revoked after the backup. */
async function bringUpToDate(url: string): Promise<void> {
  const database = await openDatabase(url);
  try {
    await database.write((trx) => revokeAllConsoleSessions(trx, Date.now()));
  } finally {
    await database.close();
  }
}
