import type { ChainClient } from "../chain/client.ts";
import { describeError } from "../chain/errors.ts";
import { PARKED } from "../domain/conditions.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { isAnyParked } from "../store/db/parked-rows.ts";
import type { WorkerHealth } from "./workers.ts";

interface Watched {
  database: Database;
  client: ChainClient;
  health: () => Promise<WorkerHealth[]>;
}

export interface Readiness {
  ready: boolean;
  checks: Record<string, string>;
}

/** Milliseconds for which a result is given again: anybody may ask, and each look costs a query and a call of the node. */
const FRESH = 1_000;

/**
 * The checks of `readyz`: the database can be read, the node answers, and each critical worker of this process works. A parked
 * row is named and does not make the process unready: all others are worked on.
 */
export function createReadiness(parts: Watched, clock = () => performance.now()): () => Promise<Readiness> {
  const look = async () => {
    const checks: Record<string, string> = {
      database: await check(async () => {
        await readMeta(parts.database.read, "checkpoint");
        return "ok";
      }),
      chain: await check(async () => {
        await parts.client.headNumber();
        return "ok";
      }),
      rows: await check(async () => ((await isAnyParked(parts.database.read)) ? PARKED : "ok")),
    };
    for (const { name, critical, lastError } of await parts.health()) if (critical) checks[name] = lastError ?? "ok";
    return { ready: Object.values(checks).every((word) => word === "ok" || word === PARKED), checks };
  };
  let last: { endedAt: number; result: Promise<Readiness> } | null = null;
  return () => {
    if (last === null || clock() - last.endedAt >= FRESH) {
      const current = { endedAt: Infinity, result: look() };
      const ended = () => (current.endedAt = clock());
      current.result.then(ended, ended);
      last = current;
    }
    return last.result;
  };
}

async function check(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    return describeError(error);
  }
}
