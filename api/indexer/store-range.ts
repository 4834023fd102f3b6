import type { Logger } from "pino";

import { applyRange, type CreationFacts, type Without } from "../store/ledger/apply-range.ts";
import { countLogs, type Quarantined, readAllAgain, recordReads } from "../store/ledger/contract-states.ts";
import { followAfter } from "../store/ledger/follow.ts";
import { followsSince, type WatchedContracts } from "../store/ledger/watched.ts";
import type { Database } from "../store/db/database.ts";
import { lockLedger } from "../store/db/locks.ts";
import { type FailedRow, isOutage, type ParkedRow, parkRows } from "../store/db/parked-rows.ts";
import { idsToSettle } from "../store/requests/settle-confirmed.ts";
import { finalChanges, type SettledRequest } from "../store/requests/stored-request.ts";
import type { Condition, ParkedKind } from "../domain/conditions.ts";
import { isolate, logParked } from "../shared/isolate.ts";
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

/** What a range was read with. */
interface From {
  read: ChainRange;
  watched: WatchedContracts;
  facts: CreationFacts;
  again: boolean;
}

/** A request whose metadata cannot be stored, or that cannot be settled. Without an error: the commit may succeed without it. */
interface Suspect {
  id: string;
  part: keyof Without;
  error?: unknown;
}

/** Rolls a trial back. */
class Trial extends Error {
  override readonly name = "Trial";
}

/**
 * Stores a range in one transaction. If a request's metadata cannot be stored, or a request cannot be settled, the range is
 * stored without that, and the request is parked: `reconcile` adds the metadata, and a later commit settles the request.
 * @param from `again`: whether the range may be read again because apps began to follow contracts meanwhile. Otherwise they
 *   follow them from the next block on, and their wallets are read from the chain in the background.
 * @returns `changed`: nothing was stored for that reason. `refused`: another process has stored or rolled back blocks.
 */
export async function storeRange(
  deps: StoreDeps,
  range: PreparedRange,
  from: From,
): Promise<"stored" | "changed" | "refused"> {
  try {
    return await commitRange(deps, range, from, []);
  } catch (error) {
    if (isOutage(error)) throw error;
    const poisoned = await findPoisoned(deps, range, from);
    // The cause is something that cannot be left out.
    if (poisoned.length === 0) throw error;
    return commitRange(deps, range, from, poisoned);
  }
}

/** @returns the requests without which the range can be stored, with the errors; none if it cannot be stored even without all of them. */
async function findPoisoned(deps: StoreDeps, range: PreparedRange, from: From): Promise<Suspect[]> {
  const unreadable = new Set(range.unreadable.map(({ id }) => id));
  const minted = range.moves
    .flatMap(({ mintedBy }) => (mintedBy === null ? [] : [mintedBy.id]))
    .filter((id) => !unreadable.has(id));
  const ended = range.batches.flatMap(({ outcomes }) => outcomes.map(({ request }) => request.id));
  const cancelled = range.cancelled.map(({ request }) => request.id);
  const settling = [...(await idsToSettle(deps.database.read, range.confirmed)), ...ended, ...cancelled];
  const suspects: Suspect[] = [
    ...[...new Set(minted)].map((id) => ({ id, part: "metadata" as const })),
    ...[...new Set(settling)].map((id) => ({ id, part: "settling" as const })),
  ];
  /** Whether the range can be stored with these suspects only. */
  const tryWith = async (kept: readonly Suspect[]) => {
    const keeps = new Set(kept);
    const leftOut = suspects.filter((suspect) => !keeps.has(suspect));
    await commitRange(deps, range, from, leftOut, true).catch((error: unknown) => {
      if (!(error instanceof Trial)) throw error;
    });
  };
  try {
    await tryWith([]);
  } catch (error) {
    if (isOutage(error)) throw error;
    return [];
  }
  return (await isolate(suspects, tryWith, isOutage)).map(({ row, error }) => ({ ...row, error }));
}

/**
 * @param leftOut what the range is stored without.
 * @param trial stores nothing. @throws Trial then, if it could be stored
 */
async function commitRange(
  deps: StoreDeps,
  range: PreparedRange,
  from: From,
  leftOut: readonly Suspect[],
  trial = false,
): Promise<"stored" | "changed" | "refused"> {
  const { database, now } = deps;
  let quarantined: Quarantined[] = [];
  let settled: SettledRequest[] = [];
  let parked: { kind: ParkedKind; rows: ParkedRow[] }[] = [];
  const started = performance.now();
  const rowsOf = (part: keyof Without) => leftOut.filter((suspect) => suspect.part === part);
  const idsOf = (part: keyof Without) => new Set(rowsOf(part).map(({ id }) => id));
  const without = { metadata: idsOf("metadata"), settling: idsOf("settling") };
  const outcome = await database.write(async (trx) => {
    await lockLedger(trx);
    const added = await followsSince(trx, from.watched);
    if (added !== null && from.again) return "changed";
    const applied = await applyRange(trx, range, from.facts, now(), without);
    if (applied === null) return "refused";
    settled = applied;
    await followAfter(trx, added ?? [], { since: range.from - 1 });
    await readAllAgain(trx, added ?? []);
    const counting = { block: range.to, limit: deps.maxForeignLogs, now: now() };
    const flooding = await countLogs(trx, countsOf(from.read, deps.maxForeignLogs), counting);
    quarantined = [...flooding, ...(await recordReads(trx, range.reads, now()))];
    if (trial) throw new Trial();
    parked = [
      {
        kind: "metadata",
        rows: await parkRows(trx, "metadata", [...unreadableMints(range), ...failedOf(rowsOf("metadata"))], now()),
      },
      { kind: "request", rows: await parkRows(trx, "request", failedOf(rowsOf("settling")), now()) },
    ];
    return "stored";
  });
  if (outcome === "stored") {
    reportQuarantines(deps.logger, quarantined);
    for (const { kind, rows } of parked) logParked(deps.logger, kind, rows);
    deps.metrics.requests(finalChanges(settled, now(), secondsSince(started)));
    for (const { cost } of range.batches) if (cost !== undefined) deps.metrics.batchGas(cost.gas);
    const { unknownTransaction: hash } = range;
    if (hash !== null) deps.logger.error({ hash }, unknownTransaction(hash));
  }
  return outcome;
}

/** Mints whose stored commands cannot be read: their tokens are stored without metadata already. */
function unreadableMints({ unreadable, moves }: PreparedRange): FailedRow[] {
  const minted = new Set(moves.map(({ mintedBy }) => mintedBy?.id));
  return unreadable.filter(({ id }) => minted.has(id));
}

function failedOf(suspects: readonly Suspect[]): FailedRow[] {
  return suspects.map(({ id, error }) => ({ id, error }));
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
