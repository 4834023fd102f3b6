import type { Logger } from "pino";

import { applyRange, type CreationFacts } from "../store/ledger/apply-range.ts";
import { countLogs, type Quarantined, readAllAgain, recordReads } from "../store/ledger/contract-states.ts";
import { followAfter } from "../store/ledger/follow.ts";
import { followsSince, type WatchedContracts } from "../store/ledger/watched.ts";
import type { Database } from "../store/db/database.ts";
import { lockLedger } from "../store/db/locks.ts";
import { finalChanges, type SettledRequest } from "../store/requests/stored-request.ts";
import type { Condition } from "../domain/conditions.ts";
import { type Metrics, secondsSince } from "../shared/metrics.ts";
import { unknownTransaction } from "../domain/unknown-transaction.ts";
import type { PreparedRange } from "./prepare-range.ts";
import type { ChainRange } from "./read-range.ts";

export interface StoreDeps {
  database: Database;
  logger: Logger;
  now: () => number;
  /** Most transfer logs of a foreign contract in 500 blocks. */
  maxForeignLogs: number;
  metrics: Pick<Metrics, "requests" | "batchGas">;
}

/**
 * Stores a range in one transaction.
 * @param again whether the range may be read again because apps began to follow contracts meanwhile. Otherwise they follow
 *   them from the next block on, and their wallets are read from the chain in the background.
 * @returns `changed`: nothing was stored for that reason. `refused`: another process has stored or rolled back blocks.
 */
export async function storeRange(
  deps: StoreDeps,
  range: PreparedRange,
  from: { read: ChainRange; watched: WatchedContracts; facts: CreationFacts; again: boolean },
): Promise<"stored" | "changed" | "refused"> {
  const { database, now } = deps;
  let quarantined: Quarantined[] = [];
  let settled: SettledRequest[] = [];
  const started = performance.now();
  const outcome = await database.write(async (trx) => {
    await lockLedger(trx);
    const added = await followsSince(trx, from.watched);
    if (added !== null && from.again) return "changed";
    const applied = await applyRange(trx, range, from.facts, now());
    if (applied === null) return "refused";
    settled = applied;
    await followAfter(trx, added ?? [], { since: range.from - 1 });
    await readAllAgain(trx, added ?? []);
    const counting = { block: range.to, limit: deps.maxForeignLogs, now: now() };
    const flooding = await countLogs(trx, countsOf(from.read, deps.maxForeignLogs), counting);
    quarantined = [...flooding, ...(await recordReads(trx, range.reads, now()))];
    return "stored";
  });
  if (outcome === "stored") {
    reportQuarantines(deps.logger, quarantined);
    deps.metrics.requests(finalChanges(settled, now(), secondsSince(started)));
    for (const { cost } of range.batches) if (cost !== undefined) deps.metrics.batchGas(cost.gas);
    const { unknownTransaction: hash } = range;
    if (hash !== null) deps.logger.error({ hash }, unknownTransaction(hash));
  }
  return outcome;
}

/** Transfer logs by foreign contract. A contract whose logs were too many to read is above the limit. */
function countsOf({ foreign, flooding }: ChainRange, limit: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { address } of foreign) counts.set(address, (counts.get(address) ?? 0) + 1);
  for (const address of flooding) counts.set(address, limit + 1);
  return counts;
}

export function reportQuarantines(logger: Logger, quarantined: readonly Quarantined[]): void {
  for (const { address: contract, reason, until } of quarantined) {
    logger.warn(
      { condition: "contract_quarantined" satisfies Condition, contract, reason, until: new Date(until).toISOString() },
      reason === "flood"
        ? "a followed contract emits too many transfer logs: it is quarantined, and its wallets are read again afterwards"
        : "calls of a followed contract keep exceeding their limits: it is quarantined, and tried again afterwards",
    );
  }
}
