import { effectOf } from "../chain/decode-call.ts";
import { readMeta } from "../store/db/meta.ts";
import {
  adoptBatch,
  closeVanished,
  failUncertain,
  type LostBatch,
  moveLane,
  numbersAmong,
  vanishedBatches,
  withoutNumber,
} from "../store/reconcile/adopt-lost-batches.ts";
import { skipFeeds } from "../store/reconcile/recovered-app.ts";
import { rollback } from "../store/ledger/rollback.ts";
import { walletPaths } from "../store/apps/wallets.ts";
import type { StoredRequest } from "../store/requests/stored-request.ts";
import { type ReconcileDeps, ReconcileError } from "./deps.ts";
import type { LaneState, Lost } from "./find-lost.ts";

/** What was found of a time that the database does not know, and what becomes of it. */
export interface Recovery {
  /** Lanes that had sent more than the database knew. */
  lanes: { lane: number; address: string; known: number; mined: number }[];
  transactions: number;
  /** Requests of the database that were carried out in that time. */
  recognised: number;
  /** Calls whose requests the database does not have. */
  added: number;
  /** Requests that may have been carried out in that time: failed, or left to run. */
  uncertain: string[];
  /** Wallets that signed in that time and are not in the database. */
  lost_wallets: string[];
}

export interface RecoverOptions {
  dryRun: boolean;
  /** Lets requests run that may have been carried out before. */
  runUncertain: boolean;
}

export function isNothing(lost: Lost): boolean {
  return lost.batches.length === 0 && ahead(lost).length === 0 && waiting(lost).length === 0;
}

/** Lanes of which the node's pool holds more than the database has ever signed. */
function waiting({ lanes }: Lost): LaneState[] {
  return lanes.filter((lane) => lane.pending > Math.max(lane.mined, lane.known));
}

function ahead({ lanes }: Lost): LaneState[] {
  return lanes.filter((lane) => lane.mined > lane.known);
}

/**
 * Makes an old backup safe: its lanes go on where the chain is, whatever was carried out is recognised, and what cannot be
 * told apart is not carried out again.
 * @throws ReconcileError while transactions that the database does not know may still reach a block.
 */
export async function recover(deps: ReconcileDeps, lost: Lost, options: RecoverOptions): Promise<Recovery> {
  const { database, now } = deps;
  const unseen = waiting(lost);
  if (unseen.length > 0) {
    throw new ReconcileError(
      `Transactions of ${unseen.map((lane) => lane.address).join(", ")} that the database does not know wait in the node's ` +
        "pool. Make sure that no other service runs with this seed, wait until they are in blocks, and run this again.",
    );
  }
  const vanished = await vanishedOf(deps, lost);
  const uncertain = await uncertainRequests(deps, lost.batches);
  const numbers = numbersOf(lost.batches);
  const recognised = await numbersAmong(database.read, numbers);
  const recovery: Recovery = {
    lanes: ahead(lost).map(({ lane, address, known, mined }) => ({ lane, address, known, mined })),
    transactions: lost.batches.length,
    recognised: recognised.size,
    added: numbers.length - recognised.size,
    uncertain: uncertain.map((request) => request.id),
    lost_wallets: await lostWallets(deps, lost.batches),
  };
  if (options.dryRun) return recovery;
  await database.write(async (trx) => {
    [recovery.recognised, recovery.added] = [0, 0];
    const checkpoint = Number(await readMeta(trx, "checkpoint"));
    const first = lost.batches[0]?.blockNumber ?? Infinity;
    // Blocks that were read while these batches were strangers' are read again.
    if (first <= checkpoint) await rollback(trx, first - 1);
    for (const lane of lost.lanes) {
      if (lane.mined > lane.known) await moveLane(trx, { lane: lane.lane, address: lane.address }, lane.mined);
    }
    for (const batch of lost.batches) {
      const { recognised, added } = await adoptBatch(trx, batch, now());
      recovery.recognised += recognised.length;
      recovery.added += added;
    }
    for (const batch of vanished) await closeVanished(trx, batch, lost.head, now());
    const still = new Set((await withoutNumber(trx)).map((request) => request.id));
    const open = uncertain.filter((request) => still.has(request.id));
    if (!options.runUncertain) await failUncertain(trx, open, now());
    await skipFeeds(trx);
  });
  return recovery;
}

/** Batches of the database whose nonces were used by transactions that are neither theirs nor have run anything. */
async function vanishedOf(deps: ReconcileDeps, lost: Lost): Promise<number[]> {
  const vanished: number[] = [];
  for (const { lane, mined } of lost.lanes) {
    for (const batch of await vanishedBatches(deps.database.read, lane, mined)) {
      if (lost.batches.some((one) => one.lane === lane && one.nonce === batch.nonce)) continue;
      const receipts = await deps.client.receipts(batch.attempts.map((attempt) => attempt.hash));
      if (receipts.every((receipt) => receipt === null)) vanished.push(batch.id);
    }
  }
  return vanished;
}

/**
 * Requests without a number, of which the lost time has a call with the same effect that no other request accounts for.
 * As many as there are such calls, oldest first: then as many effects as were asked for are on chain in the end.
 */
async function uncertainRequests(deps: ReconcileDeps, batches: LostBatch[]): Promise<StoredRequest[]> {
  const effects = new Map<string, number>();
  const known = await numbersAmong(deps.database.read, numbersOf(batches));
  for (const call of batches.flatMap((batch) => batch.calls)) {
    const effect = effectOf(call.command, deps.contracts);
    // An ERC1155 id is created once: that call is the request's own, and is taken for it.
    const certain = known.has(call.number) || call.command.kind === "create-erc1155";
    if (call.happened && !certain && effect !== null) effects.set(effect, (effects.get(effect) ?? 0) + 1);
  }
  if (effects.size === 0) return [];
  return (await withoutNumber(deps.database.read)).filter((request) => {
    const effect = effectOf(request.command, deps.contracts) ?? "";
    const left = effects.get(effect) ?? 0;
    if (left > 0) effects.set(effect, left - 1);
    return left > 0;
  });
}

function numbersOf(batches: LostBatch[]): bigint[] {
  return batches.flatMap((batch) => batch.calls.map((call) => call.number));
}

async function lostWallets(deps: ReconcileDeps, batches: LostBatch[]): Promise<string[]> {
  const signers = batches
    .flatMap((batch) => batch.calls)
    .flatMap(({ command, happened }) => (happened && command.kind === "transfer" ? [command.from] : []));
  const unique = [...new Set(signers)];
  const known = await walletPaths(deps.database.read, unique);
  return unique.filter((address) => !known.has(address));
}
