import { sql } from "kysely";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { type RecordedStatement, recordStatements } from "../support/recording.ts";
import { runApps } from "./apps.ts";
import { runDoctor } from "./doctor.ts";
import { runListings } from "./listings.ts";
import { runMedia } from "./media.ts";
import { runMetrics } from "./metrics.ts";
import { measureOffsets, type OffsetCost } from "./offsets.ts";
import { runOutbox } from "./outbox.ts";
import { runPipeline } from "./pipeline.ts";
import { runProcesses } from "./processes.ts";
import { runRetention } from "./retention.ts";
import { runReconcile } from "./reconcile.ts";
import { bestOf, type Tour } from "./tour.ts";

/*
 * Calls every function of the store on a large database, and prints which statements ran. It is a process of its own, so
 * that the coverage that Node.js writes tells which lines of the store it reached.
 */

export interface TourReport {
  statements: RecordedStatement[];
  offsets: OffsetCost[];
  /** How long reading one large table from end to end takes, in milliseconds. */
  walkMs: number;
}

const [, , file = ""] = process.argv;
const database = await openDatabase(`file:${file}`);
const tour: Tour = database;
// The condition keeps SQLite from counting the entries of an index.
const walk = sql`select count(*) from requests where updated_at > 0`;
const walkMs = await bestOf(5, () => walk.execute(database.read));
const offsets = await measureOffsets(tour);
const recorded = recordStatements();
for (const run of [
  runListings,
  runApps,
  runPipeline,
  runOutbox,
  runMedia,
  runDoctor,
  runMetrics,
  runProcesses,
  runRetention,
  runReconcile,
])
  await run(tour);
await database.close();
const report: TourReport = { statements: [...recorded.values()], offsets, walkMs };
console.log(`REPORT ${JSON.stringify(report)}`);
