import { createHash } from "node:crypto";

import { type RawBuilder, sql } from "kysely";

import { openDatabase } from "../db/database.ts";
import { DatabaseError } from "../db/errors.ts";
import { appliedMigrations } from "../db/migrate.ts";
import { pagesAfter } from "../db/pages.ts";
import { type Db, engineOf, type Trx } from "../db/sql.ts";
import { openSnapshot } from "./snapshot.ts";
import { continueRowNumbers, countRows, type KeyColumn, lastRowNumber, readTables, type TableShape } from "./tables.ts";

/** One table that was copied. */
export interface MovedTable {
  table: string;
  rows: number;
  /** SHA-256 over all its values in the order of the key, hex: the same in both databases. */
  checksum: string;
}

/** Says how far the copy is. `checking`: the rows are there, and are being read again. */
export type MoveProgress = (step: { table: string; checking: boolean; rows: number; total: number }) => void;

/**
 * Copies the database of one URL into the empty database of another, of the same engine or the other one. Nobody may write to
 * the source meanwhile, and it is never changed.
 * @throws DatabaseError: the message says what is in the way. Nothing was changed.
 */
export async function moveDatabase(from: string, to: string, report: MoveProgress): Promise<MovedTable[]> {
  if (from === to)
    throw new DatabaseError("The new database is the one that the service uses already. Name another one.");
  await using opened = new AsyncDisposableStack();
  const source = opened.adopt(await openSnapshot(from, "alone"), (one) => one.close());
  const target = opened.adopt(await openDatabase(to), (one) => one.close());
  // One transaction: an interrupted move leaves an empty database, and the command can be run again.
  return await target.writeGroup((trx) => moveRows(source.db, trx, report));
}

/** Copies every row, and compares both databases before the commit. */
async function moveRows(source: Db, target: Trx, report: MoveProgress): Promise<MovedTable[]> {
  const moved: MovedTable[] = [];
  for (const table of await tablesToMove(source, target)) {
    const total = await countRows(source, table.name);
    const tell = (checking: boolean) => (rows: number) => {
      report({ table: table.name, checking, rows, total });
    };
    const read = await sumOf(source, table, tell(false), (rows) => insertRows(target, table, rows));
    await continueRowNumbers(target, table, await lastRowNumber(source, table));
    // What the new database stored is compared, and not what was sent to it.
    const stored = await sumOf(target, table, tell(true));
    if (read.rows !== total || stored.rows !== total || stored.checksum !== read.checksum) {
      throw new DatabaseError(
        `The copy of table ${table.name} differs from its source. Nothing was stored; the source is unchanged.`,
      );
    }
    moved.push({ table: table.name, ...read });
  }
  return moved;
}

/** The number of rows of a table, and a hash over all values in the order of the key: equal tables have equal sums. */
async function sumOf(
  db: Db,
  table: TableShape,
  tell: (rows: number) => void,
  use: (rows: readonly StoredRow[]) => Promise<void> = () => Promise.resolve(),
): Promise<Pick<MovedTable, "rows" | "checksum">> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const rows of readPages(db, table)) {
    await use(rows);
    for (const row of rows) hash.update(`${JSON.stringify(table.columns.map((column) => plain(row[column])))}\n`);
    count += rows.length;
    tell(count);
  }
  return { rows: count, checksum: hash.digest("hex") };
}

/** Tables whose rows come from a migration and never change. */
const FIXED: ReadonlySet<string> = new Set(["media_store_lock"]);

async function tablesToMove(source: Db, target: Trx): Promise<TableShape[]> {
  const [applied, expected] = [await appliedMigrations(source), await appliedMigrations(target)];
  if (applied.join() !== expected.join()) {
    throw new DatabaseError(
      `The databases have different schema versions (${applied.at(-1) ?? "none"} and ${expected.at(-1) ?? "none"}). ` +
        "Start the service of this version with the old database once: it brings its schema up to date. Then move again.",
    );
  }
  const tables = (await readTables(target)).filter(({ name }) => !FIXED.has(name));
  for (const { name } of tables) {
    if ((await countRows(target, name)) > 0) {
      throw new DatabaseError(
        `The new database is not empty: its table ${name} has rows. Move into an empty database, so that nothing is mixed or ` +
          "overwritten. If a move ended there before, it is complete: set DATABASE_URL to that database.",
      );
    }
  }
  return tables;
}

/** A stored value, as both drivers return it. */
type StoredValue = string | number | null | Uint8Array;
type StoredRow = Record<string, StoredValue>;

/** Rows read at once. */
const PAGE_ROWS = 1_000;
/** The same for tables with bytes, whose values have up to 2 MiB. */
const PAGE_BINARY_ROWS = 16;
/** Most parameters of a statement: below the limits of SQLite (32,766) and PostgreSQL (65,535). */
const MAX_PARAMETERS = 30_000;

/** All rows of a table in the order of its key, in pages. Each page is one search of the key's index. */
function readPages(db: Db, table: TableShape): AsyncGenerator<StoredRow[]> {
  const limit = table.binary ? PAGE_BINARY_ROWS : PAGE_ROWS;
  const columns = sql.join(table.columns.map((column) => sql.ref(column)));
  const order = sql.join(table.key.map((column) => comparable(db, column)));
  const read = async (after: StoredRow | null) => {
    const condition =
      after === null ? sql`` : sql`where (${order}) > (${sql.join(table.key.map(({ name }) => after[name]))})`;
    const { rows } = await sql<StoredRow>`
      select ${columns} from ${sql.table(table.name)} ${condition} order by ${order} limit ${sql.lit(limit)}`.execute(
      db,
    );
    return rows;
  };
  return pagesAfter(null, read, (row) => row);
}

function comparable(db: Db, { name, text }: KeyColumn): RawBuilder<unknown> {
  if (!text) return sql`${sql.ref(name)}`;
  return engineOf(db) === "sqlite" ? sql`${sql.ref(name)} collate binary` : sql`${sql.ref(name)} collate "C"`;
}

async function insertRows(trx: Trx, table: TableShape, rows: readonly StoredRow[]): Promise<void> {
  const perStatement = Math.floor(MAX_PARAMETERS / table.columns.length);
  const columns = sql.join(table.columns.map((column) => sql.ref(column)));
  // The rows keep their numbers: cursors and references name them.
  const overriding = engineOf(trx) === "postgres" && table.rowNumber !== null ? sql`overriding system value` : sql``;
  for (let start = 0; start < rows.length; start += perStatement) {
    const values = rows
      .slice(start, start + perStatement)
      .map((row) => sql`(${sql.join(table.columns.map((column) => row[column]))})`);
    await sql`insert into ${sql.table(table.name)} (${columns}) ${overriding} values ${sql.join(values)}`.execute(trx);
  }
}

/** Bytes as an object, so that they differ from every text. */
function plain(value: StoredValue | undefined): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;
}
