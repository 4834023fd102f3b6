import type { LogEvent } from "kysely";

import { type Metrics, secondsSince } from "../../shared/metrics.ts";
import type { Database } from "./database.ts";

/** Kysely's `log` option: measures each statement. Undefined: Kysely does not even take the time. */
export function timedStatements(
  metrics: Pick<Metrics, "database"> | undefined,
): { log: (event: LogEvent) => void } | undefined {
  if (metrics === undefined) return undefined;
  return {
    log: ({ queryDurationMillis }) => {
      metrics.database("statement", queryDurationMillis / 1_000);
    },
  };
}

/** Measures writes from their call to their commit, with all waits: for other writers, for a connection, for a lock. */
export function withTimedWrites(database: Database, metrics: Pick<Metrics, "database">): Database {
  const timed = async <T>(write: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    try {
      return await write();
    } finally {
      metrics.database("write", secondsSince(started));
    }
  };
  return {
    ...database,
    write: (operation) => timed(() => database.write(operation)),
    writeGroup: (operation) => timed(() => database.writeGroup(operation)),
  };
}
