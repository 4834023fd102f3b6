import BetterSqlite3 from "better-sqlite3";

/** A statement as it was prepared, and how SQLite would run it. */
export interface PlannedStatement {
  sql: string;
  /** The steps of EXPLAIN QUERY PLAN. */
  plan: string[];
}

/**
 * Records every statement that any connection of this process prepares, until `stop`. The service prepares each statement
 * through better-sqlite3, so nothing that it does escapes.
 */
export function recordStatements(): { statements: ReadonlySet<string>; stop: () => void } {
  const recorded = new Set<string>();
  const prototype = BetterSqlite3.prototype as { prepare: (this: BetterSqlite3.Database, sql: string) => unknown };
  const { prepare } = prototype;
  prototype.prepare = function (sql) {
    recorded.add(sql);
    return prepare.call(this, sql);
  };
  return {
    statements: recorded,
    stop: () => {
      prototype.prepare = prepare;
    },
  };
}

/** Asks SQLite for the plans of statements that read or write rows. */
export function plansOf(file: string, statements: Iterable<string>): PlannedStatement[] {
  const database = new BetterSqlite3(file, { readonly: true });
  try {
    return Array.from(statements)
      .filter((sql) => /^\s*(select|insert|update|delete|with)\b/i.test(sql))
      .map((sql) => {
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
