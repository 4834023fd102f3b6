import { sql } from "kysely";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { type RecordedStatement, recordStatements } from "../support/recording.ts";
import { runApps } from "./apps.ts";
import { runDoctor } from "./doctor.ts";
import { listings, runListings } from "./listings.ts";
import { runMedia } from "./media.ts";
import { runOutbox } from "./outbox.ts";
import { runPipeline } from "./pipeline.ts";
import { runProcesses } from "./processes.ts";
import { runRetention } from "./retention.ts";
import { runReconcile } from "./reconcile.ts";
import { bestOf, DEEPEST, type Tour } from "./tour.ts";

/*
 * Calls every function of the store on a large database, and prints which statements ran. It is a process of its own, so
 * that the coverage that Node.js writes tells which lines of the store it reached.
 */

/** How long a listing takes, in milliseconds: its first page, and the page at the deepest offset. */
interface OffsetCost {
  listing: string;
  first: number;
  deepest: number;
}

export interface TourReport {
  statements: RecordedStatement[];
  offsets: OffsetCost[];
  /** How long reading one large table from end to end takes, in milliseconds. */
  walkMs: number;
}

/** How often what is measured is tried. */
const TRIES = 5;

async function measureOffsets(tour: Tour): Promise<OffsetCost[]> {
  const costs: OffsetCost[] = [];
  for (const [listing, list] of listings(tour)) {
    const first = await bestOf(TRIES, () => list({ limit: 30, offset: 0, after: null }));
    const deepest = await bestOf(TRIES, () => list({ limit: 30, offset: DEEPEST, after: null }));
    costs.push({ listing, first, deepest });
  }
  return costs;
}

const [, , file = ""] = process.argv;
const database = await openDatabase(`file:${file}`);
const tour: Tour = database;
// The condition keeps SQLite from counting the entries of an index.
const walk = sql`select count(*) from requests where updated_at > 0`;
function walkOnce(): Promise<number> {
  return bestOf(TRIES, () => walk.execute(database.read));
}
const walkBefore = await walkOnce();
const offsets = await measureOffsets(tour);
const recorded = recordStatements();
for (const run of [
  runListings,
  runApps,
  runPipeline,
  runOutbox,
  runMedia,
  runDoctor,
  runProcesses,
  runRetention,
  runReconcile,
])
  await run(tour);
// Without the walk, which is no statement of the store.
const statements = [...recorded.values()];
// Other work on the machine may slow down the statements between the two.
const walkMs = Math.max(walkBefore, await walkOnce());
await database.close();
const report: TourReport = { statements, offsets, walkMs };
console.log(`REPORT ${JSON.stringify(report)}`);
