import { createHash } from "node:crypto";

import { type RawBuilder, sql } from "kysely";

import { DatabaseError } from "../db/errors.ts";
import { appliedMigrations } from "../db/migrate.ts";
import { pagesAfter } from "../db/pages.ts";
import { type Db, engineOf, type Trx } from "../db/sql.ts";
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

/** Thrown when the databases do not fit together, or a copy differs from its source. Nothing was changed. */
class MoveError extends DatabaseError {
  override readonly name = "MoveError";
}

/**
 * Copies every row of one database into another, empty one, and compares both before the commit.
 * @param source nobody may write to it meanwhile: see `openForMove`.
 * @param target the transaction that gets everything. If anything fails, nothing of it stays.
 * @throws MoveError
 */
export async function moveRows(source: Db, target: Trx, report: MoveProgress): Promise<MovedTable[]> {
  const tables = await tablesToMove(source, target);
  const totals = new Map<string, number>();
  for (const { name } of tables) totals.set(name, await countRows(source, name));
  const moved: MovedTable[] = [];
  for (const table of tables) {
    const total = totals.get(table.name) ?? 0;
    const read = new TableSum(table);
    for await (const rows of readPages(source, table)) {
      await insertRows(target, table, rows);
      read.add(rows);
      report({ table: table.name, checking: false, rows: read.rows, total });
    }
    await continueRowNumbers(target, table, await lastRowNumber(source, table));
    const checksum = read.digest();
    await requireSame(target, table, { rows: read.rows, checksum, total }, report);
    moved.push({ table: table.name, rows: read.rows, checksum });
  }
  return moved;
}

/** Tables whose rows come from a migration and never change. */
const FIXED: ReadonlySet<string> = new Set(["media_store_lock"]);

async function tablesToMove(source: Db, target: Trx): Promise<TableShape[]> {
  const [applied, expected] = [await appliedMigrations(source), await appliedMigrations(target)];
  if (applied.join() !== expected.join()) {
    throw new MoveError(
      `The databases have different schema versions (${applied.at(-1) ?? "none"} and ${expected.at(-1) ?? "none"}). ` +
        "Start the service of this version with the old database once: it brings its schema up to date. Then move again.",
    );
  }
  const [tables, known] = [await readTables(source), await readTables(target)];
  const shape = ({ name, columns }: TableShape) => `${name}(${columns.join()})`;
  if (tables.map(shape).sort().join() !== known.map(shape).sort().join()) {
    throw new MoveError("The databases have different tables, although both say the same schema version.");
  }
  for (const { name } of known) {
    if (!FIXED.has(name) && (await countRows(target, name)) > 0) {
      throw new MoveError(
        `The new database is not empty: its table ${name} has rows. Move into an empty database, so that nothing is mixed or ` +
          "overwritten. If a move ended there before, it is complete: set DATABASE_URL to that database.",
      );
    }
  }
  return tables.filter(({ name }) => !FIXED.has(name));
}

/** Reads a copied table again, so that what the new database stored is compared and not what was sent to it. */
async function requireSame(
  target: Trx,
  table: TableShape,
  expected: { rows: number; checksum: string; total: number },
  report: MoveProgress,
): Promise<void> {
  const sum = new TableSum(table);
  for await (const rows of readPages(target, table)) {
    sum.add(rows);
    report({ table: table.name, checking: true, rows: sum.rows, total: expected.total });
  }
  if (sum.rows !== expected.rows || sum.digest() !== expected.checksum || expected.rows !== expected.total) {
    throw new MoveError(
      `The copy of table ${table.name} differs from its source. Nothing was stored; the source is unchanged.`,
    );
  }
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

/** The number of rows of a table, and a hash over all values in the order of the key. Equal tables have equal sums. */
class TableSum {
  readonly #hash = createHash("sha256");
  readonly #columns: readonly string[];
  #rows = 0;

  constructor(table: TableShape) {
    this.#columns = table.columns;
  }

  get rows(): number {
    return this.#rows;
  }

  add(rows: readonly StoredRow[]): void {
    this.#rows += rows.length;
    for (const row of rows) this.#hash.update(`${JSON.stringify(this.#columns.map((column) => plain(row[column])))}\n`);
  }

  /** @returns the hash of what was added, hex. The sum takes no more rows. */
  digest(): string {
    return this.#hash.digest("hex");
  }
}

/** Bytes as an object, so that they differ from every text. */
function plain(value: StoredValue | undefined): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;
}
