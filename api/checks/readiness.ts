import { WrongChain } from "../chain/chain-guard.ts";
import type { ChainClient } from "../chain/client.ts";
import { describeError, RateLimited } from "../chain/errors.ts";
import type { NodeState } from "../chain/chain-node.ts";
import { type NodeWord, type Readiness, READINESS_WORDS, type ReadinessWord } from "../domain/conditions.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import { firstParked } from "../store/db/parked-rows.ts";
import type { Logger } from "pino";

interface ReadinessParts {
  database: Database;
  client: Pick<ChainClient, "headNumber"> & { nodes: Pick<ChainClient["nodes"], "state"> };
  /** Of this process. */
  workers: readonly { name: string; critical: boolean; worker: { readonly lastError: string | null } }[];
  logger: Logger;
}

/** Milliseconds for which a result is given again: anybody may ask, and each look costs a query and a call of the node. */
const FRESH = 1_000;

/** With one of these words a process cannot serve calls. With any other failure it still accepts requests and answers reads. */
const CAN_DO_NOTHING: Record<"database" | "chain", readonly ReadinessWord[]> = {
  database: ["unavailable"],
  chain: ["wrong_chain"],
};

interface Result {
  word: ReadinessWord;
  /** What is wrong; null: nothing. */
  detail: string | null;
}

const OK: Result = { word: "ok", detail: null };

/**
 * The checks of `readyz`: the database can be read, the node answers, and each critical worker of this process works. Strangers
 * may read the words. The details are for the operator, because they may name hosts and users: they are also logged, once
 * when a check begins to fail and once when it is over. Workers log their own errors.
 */
export function createReadiness(parts: ReadinessParts, clock = () => performance.now()): () => Promise<Readiness> {
  const { database, client, workers, logger } = parts;
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
    const { states, isLimited } = client.nodes.state();
    const problems = states.flatMap(({ problem }) => problem ?? []);
    const [stored, chain, rows] = await Promise.all([
      check("database", () => readMeta(database.read, "checkpoint").then(() => "ok")),
      states.length === 0
        ? check("chain", () => client.headNumber().then(() => (isLimited ? "rate_limited" : "ok")))
        : chainOf(states, problems),
      check("rows", () => firstParked(database.read, 1).then((parked) => (parked.length > 0 ? "parked" : "ok"))),
    ]);
    const results: Record<string, Result> = { database: stored, chain, rows };
    if (states.length > 0)
      results["nodes"] = problems.length === 0 ? OK : { word: "node_down", detail: problems.join("; ") };
    for (const { name, critical, worker } of workers)
      if (critical) results[name] = { word: worker.lastError === null ? "ok" : "failing", detail: worker.lastError };
    const found = Object.entries(results);
    return {
      ready: !CAN_DO_NOTHING.database.includes(stored.word) && !CAN_DO_NOTHING.chain.includes(chain.word),
      checks: Object.fromEntries(found.map(([name, { word }]) => [name, word])),
      details: Object.fromEntries(found.map(([name, { detail }]) => [name, detail ?? "ok"])),
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

/** With several nodes, from what is known about them: no node is asked. */
function chainOf(states: readonly NodeState[], problems: readonly string[]): Result {
  if (problems.length < states.length) return OK;
  const word = WORDS_OF_CHAIN.find(([of]) => states.some((state) => state.word === of))?.[1] ?? "wrong_chain";
  return { word, detail: problems.join("; ") };
}

/** While every node fails: the word of the one that will work first. A wrong chain only if all serve one. */
const WORDS_OF_CHAIN: [NodeWord, ReadinessWord][] = [
  ["rate_limited", "rate_limited"],
  ["down", "unavailable"],
  ["behind", "unavailable"],
  ["disagrees", "unavailable"],
];

function wordOf(error: unknown): ReadinessWord {
  if (error instanceof WrongChain) return "wrong_chain";
  return error instanceof RateLimited ? "rate_limited" : "unavailable";
}
