import pino from "pino";

import { leaseTimes } from "../shared/lease.ts";
import type { Database } from "../store/db/database.ts";
import { Presence } from "../store/db/presence.ts";

/** Seconds for which a command that was killed on another machine still counts as running. */
const LASTS = 30;

/**
 * Runs the work of a command that writes for more than a moment. Meanwhile the command counts as a process that uses the
 * database, so a later version of Moneta does not update the tables.
 * @throws SchemaError when a later version has updated them nevertheless, because this process was paused for too long.
 */
export async function announced<T>(database: Database, work: () => Promise<T>, lasts = LASTS): Promise<T> {
  const outdated = Promise.withResolvers<never>();
  await using opened = new AsyncDisposableStack();
  const present = {
    database,
    // Standard output is reserved for the result.
    logger: pino({ level: "warn" }, pino.destination(2)),
    now: Date.now,
    leaseTimes: leaseTimes(lasts),
    onNewerSchema: outdated.reject,
  };
  await Presence.join("other", present, opened);
  return await Promise.race([work(), outdated.promise]);
}
