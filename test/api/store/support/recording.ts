import BetterSqlite3 from "better-sqlite3";

import { cpuTime } from "../plans/tour.ts";

/** A statement that ran, and its slowest use. */
export interface RecordedStatement {
  sql: string;
  /** The best of several tries, in milliseconds, without `MS_PER_ROW` for each row of a set. */
  ms: number;
}

/** What a row of a set may cost. */
const MS_PER_ROW = 0.02;

/** A statement as it was prepared, and how SQLite would run it. */
export interface PlannedStatement {
  sql: string;
  /** The steps of EXPLAIN QUERY PLAN. */
  plan: string[];
}

/** A read that is faster is not repeated. */
const FAST_MS = 1;
/** No pause of the machine is this long. */
const SURELY_SLOW_MS = 1_000;
/** Most repeats of a read. */
const REPEATS = 4;

type Run = (this: BetterSqlite3.Statement, ...parameters: unknown[]) => unknown;

/**
 * Records every statement that any connection of this process runs from now on. The service runs each statement through
 * better-sqlite3, so nothing that it does escapes. A slow read is repeated, so that a pause of the machine is not taken for
 * a slow statement. A write runs twice: first in a savepoint that is rolled back.
 */
export function recordStatements(): ReadonlyMap<string, RecordedStatement> {
  const recorded = new Map<string, RecordedStatement>();
  const database = new BetterSqlite3(":memory:");
  const prototype = Object.getPrototypeOf(database.prepare("select 1")) as Record<"all" | "get" | "run", Run>;
  database.close();
  for (const method of ["all", "get", "run"] as const) {
    const run = prototype[method];
    prototype[method] = function (...parameters) {
      const { source: sql } = this;
      if (!readsOrWritesRows(sql)) return run.apply(this, parameters);
      const known = recorded.get(sql)?.ms ?? 0;
      const again = () =>
        timed(() => {
          rehearse(this, run, parameters);
        }).ms;
      // A write is tried before it counts; a read can be repeated.
      let best = this.readonly ? Infinity : again();
      const { result, ms } = timed(() => run.apply(this, parameters));
      best = Math.min(best, ms) - rowsOf(parameters) * MS_PER_ROW;
      for (
        let tries = 0;
        this.readonly && tries < REPEATS && best > Math.max(known, FAST_MS) && best < SURELY_SLOW_MS;
        tries++
      )
        best = Math.min(best, again());
      recorded.set(sql, { sql, ms: Math.max(known, best) });
      return result;
    };
  }
  return recorded;
}

function rehearse(statement: BetterSqlite3.Statement, run: Run, parameters: unknown[]): void {
  if (statement.readonly) {
    run.apply(statement, parameters);
    return;
  }
  const { database } = statement;
  database.exec("savepoint rehearsal");
  try {
    run.apply(statement, parameters);
  } finally {
    database.exec("rollback to rehearsal");
    database.exec("release rehearsal");
  }
}

/** The rows of the sets among the parameters. */
function rowsOf(parameters: readonly unknown[]): number {
  const sets = parameters.flat().filter((value) => typeof value === "string" && value.startsWith("[["));
  return sets.reduce((sum: number, set) => sum + (JSON.parse(set as string) as unknown[]).length, 0);
}

function timed<T>(work: () => T): { result: T; ms: number } {
  const start = cpuTime();
  const result = work();
  return { result, ms: cpuTime() - start };
}

/** Tables of Kysely and SQLite, and tables that a migration replaces or drops. */
const WITHOUT_PLANS = /kysely_migration|sqlite_master|_0001\b|\bverifications\b/;

function readsOrWritesRows(sql: string): boolean {
  return /^\s*(select|insert|update|delete|with)\b/i.test(sql) && !WITHOUT_PLANS.test(sql);
}

/** Asks SQLite for the plans of statements. */
export function plansOf(file: string, statements: Iterable<string>): PlannedStatement[] {
  const database = new BetterSqlite3(file, { readonly: true });
  try {
    return Array.from(statements, (sql) => {
      // The plan of an insert shows checks of foreign keys that run only while a deferred constraint is violated: the
      // schema defers none. Checks of a delete or an update do run.
      database.pragma(`foreign_keys = ${/^\s*insert/i.test(sql) ? "OFF" : "ON"}`);
      const parameters = Array.from({ length: (sql.match(/\?/g) ?? []).length }, () => null);
      const rows = database.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[];
      return { sql, plan: rows.map(({ detail }) => detail) };
    });
  } finally {
    database.close();
  }
}
