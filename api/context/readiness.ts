import type { Logger } from "pino";

import { WrongChain } from "../chain/chain-guard.ts";
import type { ChainClient } from "../chain/client.ts";
import { describeError, RateLimited } from "../chain/errors.ts";
import { type Readiness, READINESS_WORDS, type ReadinessWord } from "../domain/conditions.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { isAnyParked } from "../store/db/parked-rows.ts";
import type { WorkerHealth } from "./workers.ts";

interface Watched {
  database: Database;
  client: Pick<ChainClient, "headNumber">;
  health: () => Promise<WorkerHealth[]>;
  logger: Logger;
}

/** Milliseconds for which a result is given again: anybody may ask, and each look costs a query and a call of the node. */
const FRESH = 1_000;

/** With one of these a process can answer no call as it should. Whatever else fails, it still accepts requests and answers reads. */
const CAN_DO_NOTHING: Record<"database" | "chain", readonly ReadinessWord[]> = {
  database: ["unavailable"],
  chain: ["wrong_chain"],
};

interface Result {
  word: ReadinessWord;
  /** What is wrong; null: nothing. */
  detail: string | null;
}

/**
 * The checks of `readyz`: the database can be read, the node answers, and each critical worker of this process works. Strangers
 * may read the words. The details are for the operator, because they may name hosts and users: they are also logged, once
 * when a check begins to fail and once when it is over. Workers log their own errors.
 */
export function createReadiness(parts: Watched, clock = () => performance.now()): () => Promise<Readiness> {
  const { database, client, health, logger } = parts;
  const words = new Map<string, ReadinessWord>();
  const check = async (name: "database" | "chain" | "rows", ask: () => Promise<ReadinessWord>): Promise<Result> => {
    try {
      const found = await ask();
      if ((words.get(name) ?? "ok") !== "ok") logger.info({ check: name }, "a check of /readyz succeeds again");
      words.set(name, "ok");
      return { word: found, detail: found === "ok" ? null : READINESS_WORDS[found] };
    } catch (error) {
      const word = wordOf(error);
      if (words.get(name) !== word) logger.error({ check: name, word, err: error }, "a check of /readyz fails");
      words.set(name, word);
      return { word, detail: describeError(error) };
    }
  };
  const look = async (): Promise<Readiness> => {
    const results = new Map<string, Result>();
    const [stored, chain, rows, workers] = await Promise.all([
      check("database", () => readMeta(database.read, "checkpoint").then(() => "ok")),
      check("chain", () => client.headNumber().then(() => "ok")),
      check("rows", () => isAnyParked(database.read).then((parked) => (parked ? "parked" : "ok"))),
      health(),
    ]);
    results.set("database", stored).set("chain", chain).set("rows", rows);
    for (const { name, critical, lastError } of workers)
      if (critical) results.set(name, { word: lastError === null ? "ok" : "failing", detail: lastError });
    return {
      ready: !CAN_DO_NOTHING.database.includes(stored.word) && !CAN_DO_NOTHING.chain.includes(chain.word),
      checks: Object.fromEntries([...results].map(([name, { word }]) => [name, word])),
      details: Object.fromEntries([...results].map(([name, { detail }]) => [name, detail ?? "ok"])),
    };
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

function wordOf(error: unknown): ReadinessWord {
  if (error instanceof WrongChain) return "wrong_chain";
  return error instanceof RateLimited ? "rate_limited" : "unavailable";
}
