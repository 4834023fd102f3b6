import { type Kysely, type RawBuilder, sql, SqliteAdapter, type Transaction } from "kysely";

import type { Tables } from "./schema.ts";

/*
 * Endings of a `select` that lock the rows it reads until the end of the transaction. With Kysely's builder:
 * `search.modifyEnd(forUpdate(trx))`. SQLite has one writer and needs no lock.
 */

/** For a change that depends on the rows. @param table of a join: the table, or its alias, whose rows are locked. Default: all. */
export function forUpdate(db: Db, table?: string): RawBuilder<unknown> {
  return ending(db, sql`for update${of(table)}`);
}

/** For rows that the transaction does not change but that must stay as they are until its end. */
export function forShare(db: Db): RawBuilder<unknown> {
  return ending(db, sql`for share`);
}

/** For one decision at a time about the rows. References from other rows (`forKeyShare`) do not wait for it. */
export function forNoKeyUpdate(db: Db): RawBuilder<unknown> {
  return ending(db, sql`for no key update`);
}

/** For rows that only must not be deleted. @param table as for `forUpdate`. */
export function forKeyShare(db: Db, table?: string): RawBuilder<unknown> {
  return ending(db, sql`for key share${of(table)}`);
}

/**
 * To take work that other processes may be taking at the same time: passes over the rows that they have locked. A row that
 * another process has taken in the meantime is checked again after it is locked, against the conditions on its own columns
 * only. So one of these conditions must say that the row is still free.
 * @param table the table, or its alias, whose rows are taken.
 */
export function forUpdateSkipLocked(db: Db, table: string): RawBuilder<unknown> {
  return ending(db, sql`for update${of(table)} skip locked`);
}

function of(table: string | undefined): RawBuilder<unknown> {
  return table === undefined ? sql`` : sql` of ${sql.ref(table)}`;
}

function ending(db: Db, lock: RawBuilder<unknown>): RawBuilder<unknown> {
  return engineOf(db) === "postgres" ? lock : sql``;
}

/*
 * Locks for checks that no single row stands for. They are held until the end of the transaction. SQLite has one writer and
 * needs none.
 *
 * Every transaction takes its locks in this order, so that two of them rarely wait for each other:
 * the ledger, apps, collections, tokens, holdings, gas budgets, new wallets, requests, counters, sequences.
 *
 * A call only holds its app (`holdApps`), before all others. Only the app's removal and a change of its quotas wait for that. The
 * app is locked (`lockQuotas`) only when a quota is compared.
 */

/** Any number that no other program uses for an advisory lock of the same database. */
const LEDGER_LOCK = 7_215_604_319;

/**
 * One at a time: storing blocks, rolling back, reading contracts in the background, and changing what is followed. Each
 * of them depends on the checkpoint and on what the others store. Take it before anything is read.
 */
export async function lockLedger(trx: Trx): Promise<void> {
  if (engineOf(trx) === "postgres") await sql`select pg_advisory_xact_lock(${sql.lit(LEDGER_LOCK)})`.execute(trx);
}

/** Locks collections in the order of their addresses, so that reservations and metadata stay as they are read. */
export async function lockCollections(trx: Trx, addresses: Iterable<string>): Promise<void> {
  const distinct = new Set(addresses);
  if (engineOf(trx) !== "postgres" || distinct.size === 0) return;
  await sql`
    select address from collections where address in ${textSet(trx, distinct)} order by address for update`.execute(
    trx,
  );
}

/** A value of a set's row, as JSON and both engines know it. */
export type SetValue = string | number | null;

/** The columns of a set with their SQL types, in the order of the values. */
export type SetColumns<Name extends string> = Record<Name, "text" | "integer">;

/** Rows that count as few: those of a page. */
const FEW = 30;

/**
 * Rows as a table expression with a single parameter, for `insert ... select`, `update ... from` and joins. There is one text
 * of the statement for few rows and one for many, so few texts are compiled and prepared. The column `ord` numbers the rows
 * from 0 on.
 *
 *     sql`insert into t (a, b) select a, b from ${rowSet(trx, { a: "text", b: "integer" }, rows)} as input order by ord`
 */
export function rowSet<Name extends string>(
  db: Db,
  columns: SetColumns<Name>,
  rows: readonly Record<NoInfer<Name>, SetValue>[],
): RawBuilder<unknown> {
  return setFromJson(db, columns, jsonOfSet(columns, rows), isFew(rows));
}

/** The parameter of a set. */
export function jsonOfSet<Name extends string>(
  columns: SetColumns<Name>,
  rows: readonly Record<NoInfer<Name>, SetValue>[],
): string {
  const names = Object.keys(columns) as Name[];
  return jsonOf(rows.map((row) => names.map((name) => row[name])));
}

export function isFew(rows: readonly unknown[]): boolean {
  return rows.length <= FEW;
}

/** The table expression of `rowSet`. */
export function setFromJson<Name extends string>(
  db: Db,
  columns: SetColumns<Name>,
  json: string,
  few: boolean,
): RawBuilder<unknown> {
  const names = Object.keys(columns) as Name[];
  if (engineOf(db) === "postgres") {
    const picked = names.map((name, index) => {
      const type = columns[name] === "text" ? sql`text` : sql`bigint`;
      return sql`(item.value ->> ${sql.lit(index)})::${type} as ${sql.ref(name)}`;
    });
    // The planner does not look into the parameter. It takes ten rows for an array that it does not know, and a hundred for the
    // function alone. With a hundred in place of few, it reads a table of some thousand rows from end to end instead of looking
    // into its index. With ten in place of a thousand, it may compare each of them with each row of another set.
    const elements = sql`jsonb_array_elements(${json}::jsonb)`;
    const items = few ? sql`unnest(array(select ${elements}))` : elements;
    return sql`(select ${sql.join(picked)}, item.ord - 1 as ord from ${items} with ordinality as item(value, ord))`;
  }
  const picked = names.map((name, index) => sql`item.value ->> ${sql.lit(index)} as ${sql.ref(name)}`);
  return sql`(select ${sql.join(picked)}, item.key as ord from jsonb_each(${json}) as item)`;
}

/** Texts as the right side of `in`: `where id in ${textSet(trx, ids)}`. A single parameter, like `rowSet`. */
export function textSet(db: Db, values: Iterable<string>): RawBuilder<unknown> {
  const rows = Array.from(values, (value) => ({ value }));
  return sql`(select value from ${rowSet(db, { value: "text" }, rows)} as input)`;
}

/** The same of integers. */
export function integerSet(db: Db, values: Iterable<number>): RawBuilder<unknown> {
  const rows = Array.from(values, (value) => ({ value }));
  return sql`(select value from ${rowSet(db, { value: "integer" }, rows)} as input)`;
}

/**
 * Most characters of text in one part of a set. Both engines have a limit for one value, PostgreSQL 256 MB for the elements of
 * an array, and a character takes up to six bytes of JSON.
 */
const MOST_IN_PART = 8 * 1024 * 1024;

/**
 * Rows whose texts may be large, in parts for one statement each, in their order. A single row may be larger than a part: its
 * fields have limits of their own.
 */
export function* inParts<Row extends Record<string, SetValue>>(rows: readonly Row[]): Generator<Row[]> {
  let [part, length]: [Row[], number] = [[], 0];
  for (const row of rows) {
    const own = lengthOf(row);
    if (part.length > 0 && length + own > MOST_IN_PART) {
      yield part;
      [part, length] = [[], 0];
    }
    part.push(row);
    length += own;
  }
  if (part.length > 0) yield part;
}

function lengthOf(row: Record<string, SetValue>): number {
  let length = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") length += value.length;
  }
  return length;
}

/** What PostgreSQL cannot store, as JSON writes it: NUL and halves of surrogate pairs. Contracts may name such things. */
const NOT_STORABLE = /\\u(0000|d[89a-f])/;

function jsonOf(rows: readonly (SetValue | undefined)[][]): string {
  const json = JSON.stringify(rows);
  if (!NOT_STORABLE.test(json)) return json;
  return JSON.stringify(
    rows.map((row) => row.map((value) => (typeof value === "string" ? storableText(value) : value))),
  );
}

export type Engine = "sqlite" | "postgres";

/** Reads the tables, through a read connection or inside the transaction of a write. */
export type Db = Kysely<Tables>;
/** The open transaction of a write. Never await anything but the database inside. */
export type Trx = Transaction<Tables>;

/** Runs several reads on one snapshot: see `Database.snapshot`. */
export function inSnapshot<T>(db: Db, read: (db: Db) => Promise<T>): Promise<T> {
  const transaction = db.transaction();
  // On SQLite every transaction reads from a snapshot.
  return (engineOf(db) === "postgres" ? transaction.setIsolationLevel("repeatable read") : transaction).execute(read);
}

export function engineOf(db: Kysely<never> | Kysely<unknown> | Db): Engine {
  return db.getExecutor().adapter instanceof SqliteAdapter ? "sqlite" : "postgres";
}

/**
 * A text as PostgreSQL can store it. It stores neither NUL nor half of a surrogate pair; both become the replacement
 * character.
 */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}
