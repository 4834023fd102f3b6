import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { type Command, InvalidArgumentError } from "commander";
import { pino } from "pino";

import { databaseUrl } from "../config/parsers.ts";
import { parseSettings, pickSettings } from "../config/settings.ts";
import { withWorkplace, type Workplace } from "../context/workplace.ts";
import { daysOf, PRUNED_KINDS, type PrunedKind, type Removed } from "../domain/retention.ts";
import { addPruned, countPrunable, prune as pruneOldRows, type Pruned } from "../operate/prune.ts";
import { plural } from "../shared/text.ts";
import { type Database, openDatabase, openExistingDatabase } from "../store/db/database.ts";
import { DatabaseMissing, isPostgres } from "../store/db/errors.ts";
import { applyGrants } from "../store/db/migrate.ts";
import { moveDatabase, type MovedTable, type MoveProgress } from "../store/move/move.ts";
import { announced } from "./announced.ts";
import { printResult, PROGRAM, resultCommand, table, type Terminal } from "./terminal.ts";

export function migrate(terminal: Terminal): Command {
  return resultCommand("migrate", "Create the tables of the database, or bring them up to date.", {
    examples: ["migrate"],
    json: "{migrated: true, roles: [name]}",
    notes:
      "The service does the same when it starts. Use this command to do it once, before many processes start.\n" +
      "The chain need not run, and no key is needed.\n" +
      "PostgreSQL: gives the roles moneta_service, moneta_relayer, moneta_media and moneta_ipfs their rights, if they exist. Run it as the owner of " +
      "the database, after each upgrade.",
  }).action(async ({ json }: { json?: boolean }) => {
    // Opening the database brings it up to date.
    const roles = await withNewDatabase(terminal, (database) => database.write(applyGrants));
    const granted = roles.length === 0 ? "" : ` These roles have their rights: ${roles.join(", ")}.`;
    printResult(terminal, json, { migrated: true, roles }, `The database is up to date.${granted}`);
  });
}

export function migrateTo(terminal: Terminal): Command {
  return resultCommand(
    "migrate-to",
    "Copy the whole database into another, empty one: to PostgreSQL, or back to SQLite.",
    {
      examples: ["migrate-to postgres://moneta@db.internal/moneta", "migrate-to file:data/moneta.sqlite"],
      json: "{tables: [{table, rows, checksum}]}",
      notes:
        "1. Stop every process of the service. 2. Run this command with the settings of the service.\n" +
        "3. Set DATABASE_URL to the new database, and MEDIA_STORE as before, for every process. 4. Start them.\n" +
        "Every table is read again from the new database and compared. The old database is not changed: keep it as a backup,\n" +
        "and never start the service with it again. If the command is interrupted, run it again.",
    },
  )
    .argument("<url>", "the new database: postgres://user:password@host/database, or file:<path>", readUrl)
    .action(async (to: string, { json }: { json?: boolean }) => {
      const { databaseUrl: from, mediaStore } = parseSettings(terminal.env);
      const tables = await moveDatabase(from, to, progress(terminal));
      printResult(terminal, json, { tables }, describe(tables, mediaStore.kind));
    });
}

function readUrl(text: string): string {
  const parsed = databaseUrl.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => message).join("; "));
}

function describe(tables: readonly MovedTable[], media: "files" | "database" | "s3"): string {
  const place = { files: "`files`", database: "`database`", s3: "the same bucket" }[media];
  const rows = tables.reduce((sum, each) => sum + each.rows, 0);
  const lines = tables.map(({ table: name, rows: count, checksum }) => [name, count.toString(), checksum.slice(0, 16)]);
  return [
    table(["TABLE", "ROWS", "SHA-256"], lines, ""),
    "",
    `Moved ${plural(rows, "row")}. Each table of the new database has the same rows and the same checksum as its source.`,
    `Now set DATABASE_URL to the new database and MEDIA_STORE to ${place} for every process, and start them.`,
    "Do not start the service with the old database again.",
  ].join("\n");
}

/** One line for each table. On a terminal it is rewritten while the table is copied, and read again. */
function progress(terminal: Terminal): MoveProgress {
  return ({ table: name, checking, rows, total }) => {
    const percent = Math.floor((50 * (rows + (checking ? total : 0))) / Math.max(1, total));
    const done = checking && rows >= total;
    const line = `${Math.min(100, percent).toString().padStart(3)} %  ${name} (${plural(total, "row")})`;
    if (terminal.rewrite !== undefined) terminal.rewrite(done ? `${line}\n` : line);
    else if (done) terminal.remark?.(`${line}\n`);
  };
}

const HEAD = ["KIND", "KEPT FOR", "ROWS", "BYTES"];

export function prune(terminal: Terminal): Command {
  return resultCommand("prune", "Delete rows that are older than RETAIN_DAYS and RETAIN_FAILED_DAYS allow.", {
    examples: ["prune --dry-run", "prune --json"],
    json: "{dry_run, rows, bytes, kinds: [{kind, days, rows, bytes}]} (days null: kept forever)",
    notes:
      "The service may run; it prunes by itself too, every ten minutes. Bytes are an estimate.\n" +
      "The database reuses the space for new rows; its files do not get smaller.",
  })
    .option("--dry-run", "count what would be deleted, and delete nothing")
    .action(async ({ json, dryRun = false }: { json?: boolean; dryRun?: boolean }) => {
      const { retain, databaseUrl } = pickSettings(terminal.env, "retain", "databaseUrl");
      const pruned = await withDatabase(terminal, async (database) => {
        const logger = pino({ level: "error" }, pino.destination(2));
        const deps = { database, retain, logger, now: Date.now };
        if (dryRun) return countPrunable(deps);
        const sums: Pruned = new Map();
        const tell = (kind: PrunedKind, removed: Removed) => {
          addPruned(sums, kind, removed);
          terminal.rewrite?.(`pruned: ${plural(total(sums, "rows"), "row")}`);
        };
        await announced(database, () => pruneOldRows(deps, new AbortController().signal, tell));
        terminal.rewrite?.("");
        return sums;
      });
      const kinds = [
        ...PRUNED_KINDS.map((kind) => ({
          kind,
          days: daysOf(retain, kind),
          ...(pruned.get(kind) ?? { rows: 0, bytes: 0 }),
        })),
        { kind: "idempotency_keys", days: null, rows: 0, bytes: 0 },
      ];
      const result = { dry_run: dryRun, rows: total(pruned, "rows"), bytes: total(pruned, "bytes"), kinds };
      const rows = kinds.map(({ kind, days, rows: count, bytes }) => [
        kind,
        days === null ? "ever" : plural(days, "day"),
        count.toString(),
        bytes.toString(),
      ]);
      const words = `${dryRun ? "would be deleted" : "deleted"}: ${plural(result.rows, "row")} (about ${plural(result.bytes, "byte")})`;
      const text = [table(HEAD, rows, ""), "", words, ...(dryRun ? [] : [afterwards(databaseUrl)])].join("\n");
      printResult(terminal, json, result, text);
    });
}

function total(pruned: Pruned, figure: "rows" | "bytes"): number {
  return [...pruned.values()].reduce((sum, removed) => sum + removed[figure], 0);
}

function afterwards(databaseUrl: string): string {
  return isPostgres(databaseUrl)
    ? "PostgreSQL reuses the space after its next vacuum, which it runs by itself."
    : "SQLite reuses the freed pages for new rows. The file keeps its size.";
}

/** The folder of `npm start`, relative to the project. */
const LOCAL_FOLDER = "data/local";

/**
 * Opens the database of the settings for one piece of work. The service may be running.
 * @throws DatabaseMissing when there is none: only `withNewDatabase` creates one.
 */
export function withDatabase<T>(terminal: Terminal, work: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl } = pickSettings(terminal.env, "databaseUrl");
  return withHint(async () => use(await openExistingDatabase(databaseUrl), work));
}

/** The same, for the commands that may come before the first start of the service. It says when it creates the database. */
export async function withNewDatabase<T>(terminal: Terminal, work: (database: Database) => Promise<T>): Promise<T> {
  const { databaseUrl } = pickSettings(terminal.env, "databaseUrl");
  const missing = await databaseMissing(databaseUrl);
  const result = await use(await openDatabase(databaseUrl), work);
  if (missing !== null) terminal.remark?.(`Created a new database at ${missing}. ${hintFor(missing)}`.trimEnd() + "\n");
  return result;
}

/**
 * The database, the chain and the keys, for commands that compare them.
 * @throws DatabaseMissing; OperatorError when the service never started with the database.
 */
export function withServiceState<T>(terminal: Terminal, work: (place: Workplace) => Promise<T>): Promise<T> {
  const settings = parseSettings(terminal.env);
  return withHint(() => withWorkplace(settings, work));
}

async function use<T>(database: Database, work: (database: Database) => Promise<T>): Promise<T> {
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** @returns where the database would be, when there is none. */
async function databaseMissing(databaseUrl: string): Promise<string | null> {
  try {
    await (await openExistingDatabase(databaseUrl)).close();
    return null;
  } catch (error) {
    if (error instanceof DatabaseMissing) return error.place;
    throw error;
  }
}

async function withHint<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseMissing)) throw error;
    const hint = hintFor(error.place);
    throw hint === "" ? error : new DatabaseMissing(error.place, hint);
  }
}

/** Most people who meet a missing database want that of `npm start`. */
function hintFor(missing: string): string {
  const local = join(LOCAL_FOLDER, "moneta.sqlite");
  if (!existsSync(local) || resolve(local) === resolve(missing)) return "";
  return `\`npm start\` keeps its database in ${LOCAL_FOLDER}. To use that one: DATA_DIR=${LOCAL_FOLDER} ${PROGRAM} ...`;
}
