import type BetterSqlite3 from "better-sqlite3";
import type { SqliteDatabase, SqliteStatement } from "kysely";

/** Statements kept per connection. The service has fewer, although listings vary in their filters. */
const MAX_STATEMENTS = 500;

/**
 * A connection that prepares each statement once and uses it again: preparing costs more than running most of them. The
 * least recently used statements are dropped.
 */
export function cachingStatements(database: BetterSqlite3.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql: string): SqliteStatement {
      const known = statements.get(sql);
      const statement = known ?? database.prepare(sql);
      // A map keeps the order of insertion: the newest use goes to the end.
      if (known !== undefined) statements.delete(sql);
      statements.set(sql, statement);
      if (statements.size > MAX_STATEMENTS) {
        const [oldest] = statements.keys();
        if (oldest !== undefined) statements.delete(oldest);
      }
      return statement;
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}
