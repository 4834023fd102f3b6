import { sql } from "kysely";

import type { PipelineReasons, StoredReason } from "../../domain/waiting-for.ts";
import { readMeta } from "../db/meta.ts";
import { countProcesses } from "../db/presence.ts";
import type { Db } from "../db/sql.ts";
import { allLanes } from "./lanes.ts";

/**
 * What the processes that send and follow requests have stored about themselves.
 * @param lanes the lanes of the settings. @param presence milliseconds for which a process says that it runs.
 */
export async function readReasons(
  db: Db,
  { lanes, now, presence }: { lanes: readonly number[]; now: number; presence: number },
): Promise<PipelineReasons> {
  const rows = await allLanes(db);
  const batches = await db
    .selectFrom("batches")
    .select(["id", "lane", "created_at as createdAt"])
    .where("status", "=", sql.lit("open"))
    .execute();
  return {
    isSending: (await countProcesses(db, "relayer", { now, lasts: presence, within: presence })) > 0,
    lanes: rows.map(({ lane, waiting_for: waitingFor }) => ({
      waitingFor,
      inUse: lanes.includes(lane),
      unmined: batches.filter((batch) => batch.lane === lane),
    })),
    indexer: (await readMeta(db, "indexer_waits_for")) as StoredReason | null,
  };
}
