import { type RawBuilder, sql } from "kysely";

import { type Db, engineOf } from "../db/engine.ts";

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
