import { type CreateTableBuilder, type Kysely, sql } from "kysely";

import { engineOf } from "../sql.ts";

/** Milliseconds, block numbers, counts: 64 bits on either engine. */
export const INT = "bigint";

/** What a migration creates tables with, on either engine. */
export function schemaKit(db: Kysely<unknown>) {
  const postgres = engineOf(db) === "postgres";
  return {
    /** Text that is compared and ordered byte by byte, whatever the language of the PostgreSQL database is. */
    TEXT: postgres ? sql`text collate "C"` : ("text" as const),
    BYTES: postgres ? sql`bytea` : ("blob" as const),
    /** Stores a column as it is. PostgreSQL would try to compress it, which takes time and gains nothing for media. */
    uncompressed: async (table: string, column: string) => {
      if (!postgres) return;
      await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} set storage external`.execute(db);
    },
    create: (name: string) => db.schema.createTable(name),
    /** A growing row number that is never given twice: the order of every listing. */
    numbered: <T extends string>(table: CreateTableBuilder<T>, column: string) =>
      postgres
        ? table.addColumn(column, INT, (c) => c.primaryKey().generatedAlwaysAsIdentity())
        : table.addColumn(column, "integer", (c) => c.primaryKey().autoIncrement()),
    index: (name: string, table: string, columns: string[]) =>
      db.schema.createIndex(name).on(table).columns(columns).execute(),
    uniqueIndex: (name: string, table: string, columns: string[]) =>
      db.schema.createIndex(name).unique().on(table).columns(columns).execute(),
    /** An index over the rows that meet a condition. */
    partialIndex: async (name: string, on: string, condition: string) => {
      await sql`create index ${sql.ref(name)} on ${sql.raw(on)} where ${sql.raw(condition)}`.execute(db);
    },
    uniquePartialIndex: async (name: string, on: string, condition: string) => {
      await sql`create unique index ${sql.ref(name)} on ${sql.raw(on)} where ${sql.raw(condition)}`.execute(db);
    },
    /**
     * A table whose rows change all the time. PostgreSQL keeps the old versions of rows until a vacuum removes them; by
     * default it waits until a fifth of the table is old, which makes a queue of a large table slower and slower.
     */
    busy: async (table: string, fillfactor: number) => {
      if (!postgres) return;
      await sql`alter table ${sql.table(table)} set (fillfactor = ${sql.lit(fillfactor)},
        autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.02)`.execute(db);
    },
  };
}

export type SchemaKit = ReturnType<typeof schemaKit>;
