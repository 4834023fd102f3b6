import type { LogEvent } from "kysely";

import type { Metrics } from "../../shared/metrics.ts";

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
