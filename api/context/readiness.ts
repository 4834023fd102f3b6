import type { ChainClient } from "../chain/client.ts";
import { describeError } from "../chain/errors.ts";
import type { Indexer } from "../indexer/indexer.ts";
import type { Lane } from "../relayer/lane.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";

interface Watched {
  database: Database;
  client: ChainClient;
  lanes: Lane[];
  indexer: Indexer | null;
}

/** What `readyz` asks: can the database be read, does the node answer, does every part of this process do its work. */
export function createReadiness(parts: Watched): () => Promise<{ ready: boolean; checks: Record<string, string> }> {
  return async () => {
    const checks: Record<string, string> = {
      database: await check(() => readMeta(parts.database.read, "checkpoint")),
      chain: await check(() => parts.client.headNumber()),
    };
    if (parts.indexer !== null) checks["indexer"] = parts.indexer.lastError ?? "ok";
    for (const lane of parts.lanes) checks[`lane ${lane.index.toString()}`] = lane.lastError ?? "ok";
    return { ready: Object.values(checks).every((word) => word === "ok"), checks };
  };
}

async function check(ask: () => Promise<unknown>): Promise<string> {
  try {
    await ask();
    return "ok";
  } catch (error) {
    return describeError(error);
  }
}
