import { type RawBuilder, sql } from "kysely";

import { type Db, engineOf, type Trx } from "../db/sql.ts";

/** How many rows each table has, by its name. */
export async function countAllRows(db: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await readTables(db)) counts[name] = await countRows(db, name);
  return counts;
}

/** The tables whose number of rows differs, as a text; null when all are the same. */
export function differentCounts(
  expected: Readonly<Record<string, number>>,
  found: Readonly<Record<string, number>>,
): string | null {
  const tables = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort();
  const different = tables.filter((table) => expected[table] !== found[table]);
  if (different.length === 0) return null;
  const count = (rows: number | undefined) => (rows === undefined ? "no table" : rows.toString());
  return different.map((table) => `${table}: ${count(found[table])} instead of ${count(expected[table])}`).join(", ");
}

/**
 * The last row number that a table gave away, also to a row that was deleted later; 0 when it gave none. Row numbers are
 * never given twice, because cursors name them.
 */
export async function lastRowNumber(db: Db, table: TableShape): Promise<number> {
  if (table.rowNumber === null) return 0;
  const query =
    engineOf(db) === "sqlite"
      ? sql<{ last: number }>`select seq as last from sqlite_sequence where name = ${table.name}`
      : sql<{ last: number }>`
          select coalesce(pg_sequence_last_value(pg_get_serial_sequence(${table.name}, ${table.rowNumber})::regclass), 0) as last`;
  return (await query.execute(db)).rows[0]?.last ?? 0;
}

/** The next row gets the number after `last`. */
export async function continueRowNumbers(trx: Trx, table: TableShape, last: number): Promise<void> {
  if (table.rowNumber === null || last === 0) return;
  if (engineOf(trx) === "postgres") {
    await sql`select setval(pg_get_serial_sequence(${table.name}, ${table.rowNumber}), ${last})`.execute(trx);
    return;
  }
  await sql`delete from sqlite_sequence where name = ${table.name}`.execute(trx);
  await sql`insert into sqlite_sequence (name, seq) values (${table.name}, ${last})`.execute(trx);
}

/** A table, with what a copy must know of it. */
export interface TableShape {
  name: string;
  columns: string[];
  /** The columns of the primary key, in its order. */
  key: KeyColumn[];
  /** The column that numbers the rows, or null. Its next number comes from a sequence. */
  rowNumber: string | null;
  /** Whether a column holds bytes. */
  binary: boolean;
}

export interface KeyColumn {
  name: string;
  /** Text is compared byte by byte, so that both engines have the same order. */
  text: boolean;
}

interface Reference {
  table: string;
  target: string;
}

/**
 * The tables of the service, each after those that it refers to. Kysely's own tables are left out: every database has them
 * already after its migration.
 */
export async function readTables(db: Db): Promise<TableShape[]> {
  const [tables, keys, references] = [await db.introspection.getTables(), await readKeys(db), await readReferences(db)];
  const shapes = tables
    .filter(({ isView }) => !isView)
    .map(({ name, columns }) => ({
      name,
      columns: columns.map((column) => column.name).sort(),
      key: (keys.get(name) ?? []).map((key) => ({
        name: key,
        text: columns.some((column) => column.name === key && /text|char/i.test(column.dataType)),
      })),
      rowNumber: columns.find((column) => column.isAutoIncrementing)?.name ?? null,
      binary: columns.some((column) => /blob|bytea/i.test(column.dataType)),
    }));
  return inOrderOfReferences(shapes, references);
}

async function readKeys(db: Db): Promise<Map<string, string[]>> {
  const query: RawBuilder<{ table: string; column: string }> =
    engineOf(db) === "sqlite"
      ? sql`select m.name as "table", c.name as "column" from sqlite_master as m join pragma_table_info(m.name) as c
             where m.type = 'table' and c.pk > 0 order by m.name, c.pk`
      : sql`select t.relname as "table", a.attname as "column"
              from pg_index as i join pg_class as t on t.oid = i.indrelid
              join lateral unnest(i.indkey) with ordinality as k (attnum, place) on true
              join pg_attribute as a on a.attrelid = t.oid and a.attnum = k.attnum
             where i.indisprimary and t.relnamespace = current_schema()::regnamespace order by t.relname, k.place`;
  const keys = new Map<string, string[]>();
  for (const { table, column } of (await query.execute(db)).rows) keys.set(table, [...(keys.get(table) ?? []), column]);
  return keys;
}

async function readReferences(db: Db): Promise<Reference[]> {
  const query: RawBuilder<Reference> =
    engineOf(db) === "sqlite"
      ? sql`select m.name as "table", f."table" as target from sqlite_master as m
              join pragma_foreign_key_list(m.name) as f where m.type = 'table'`
      : sql`select t.relname as "table", r.relname as target from pg_constraint as c
              join pg_class as t on t.oid = c.conrelid join pg_class as r on r.oid = c.confrelid
             where c.contype = 'f' and c.connamespace = current_schema()::regnamespace`;
  return (await query.execute(db)).rows;
}

function inOrderOfReferences(shapes: readonly TableShape[], references: readonly Reference[]): TableShape[] {
  const ordered: TableShape[] = [];
  let left = [...shapes].sort((a, b) => (a.name < b.name ? -1 : 1));
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const waits = ({ name }: TableShape) =>
      references.some(({ table, target }) => table === name && target !== name && names.has(target));
    const next = left.filter((shape) => !waits(shape));
    if (next.length === 0) throw new Error(`tables refer to each other in a circle: ${[...names].join(", ")}`);
    ordered.push(...next);
    left = left.filter(waits);
  }
  return ordered;
}

/** @returns how many rows the table has. */
export async function countRows(db: Db, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
  return rows[0]?.count ?? 0;
}
