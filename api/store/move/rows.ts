import { createHash } from "node:crypto";

import { type RawBuilder, sql } from "kysely";

import { type Db, engineOf, type Trx } from "../db/sql.ts";
import type { KeyColumn, TableShape } from "./tables.ts";

/** A stored value, as both drivers return it. */
export type StoredValue = string | number | null | Uint8Array;
export type StoredRow = Record<string, StoredValue>;

/** Rows read at once. */
const PAGE_ROWS = 1_000;
/** The same for tables with bytes, whose values have up to a mebibyte. */
const PAGE_BINARY_ROWS = 16;
/** Most parameters of a statement: below the limits of SQLite (32,766) and PostgreSQL (65,535). */
const MAX_PARAMETERS = 30_000;

/** All rows of a table in the order of its key, in pages. Each page is one look into the index of the key. */
export async function* readPages(db: Db, table: TableShape): AsyncGenerator<StoredRow[]> {
  const limit = table.binary ? PAGE_BINARY_ROWS : PAGE_ROWS;
  const columns = sql.join(table.columns.map((column) => sql.ref(column)));
  const order = sql.join(table.key.map((column) => comparable(db, column)));
  let after: StoredRow | null = null;
  for (;;) {
    const condition: RawBuilder<unknown> =
      after === null ? sql`` : sql`where (${order}) > (${sql.join(table.key.map(({ name }) => after?.[name]))})`;
    const { rows }: { rows: StoredRow[] } = await sql<StoredRow>`
      select ${columns} from ${sql.table(table.name)} ${condition} order by ${order} limit ${sql.lit(limit)}`.execute(
      db,
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    after = last;
  }
}

function comparable(db: Db, { name, text }: KeyColumn): RawBuilder<unknown> {
  if (!text) return sql`${sql.ref(name)}`;
  return engineOf(db) === "sqlite" ? sql`${sql.ref(name)} collate binary` : sql`${sql.ref(name)} collate "C"`;
}

export async function insertRows(trx: Trx, table: TableShape, rows: readonly StoredRow[]): Promise<void> {
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
export class TableSum {
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
