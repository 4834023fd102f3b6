import { randomUUID } from "node:crypto";

import type { Transaction } from "ethers";

import { MOST_LANES } from "../../config/parsers.ts";
import { decodeCommand, decodeExecute, effectOf, usesUnknownFactory } from "../../chain/codec/decode-call.ts";
import { ChainUnavailable } from "../../chain/errors.ts";
import { CREATED_TOPIC, decodeCreated, decodeRelayEvent, type RelayEvent } from "../../chain/codec/decode.ts";
import { queryLogs } from "../../chain/query-logs.ts";
import { isAdoptedMint, isMint, isOfWallet } from "../../domain/command.ts";
import { lockLedger } from "../../store/db/sql.ts";
import { checkpointOf, readMeta } from "../../store/db/meta.ts";
import { batchesByHash } from "../../store/sending/batches.ts";
import { allLanes } from "../../store/sending/lanes.ts";
import {
  adoptBatch,
  closeVanished,
  emptyReplaced,
  failUncertain,
  type LostBatch,
  type LostCall,
  moveLane,
  numbersAmong,
  perhapsSent,
  replacedBatch,
  vanishedBatches,
} from "../../store/reconcile/adopt-lost-batches.ts";
import { skipFeeds } from "../../store/reconcile/recovered-app.ts";
import { readIndexedContracts } from "../../store/ledger/indexed-contracts.ts";
import { rollback } from "../../store/ledger/rollback.ts";
import { skipTokenEvents } from "../../store/ledger/token-events.ts";
import { signingWallets } from "../../store/apps/wallets.ts";
import { stopAllMinting } from "../../store/requests/minting.ts";
import type { StoredRequest } from "../../store/requests/requests.ts";
import { inRanges } from "./replay.ts";
import { OperatorError } from "../operator-error.ts";
import { type ReconcileDeps, type Run, storeRun } from "./run.ts";

interface LaneState {
  lane: number;
  address: string;
  /** Next nonce in the database; 0 for a lane that it does not have. */
  known: number;
  /** Next nonce on chain. */
  mined: number;
  /** Next nonce including the node's transaction pool. */
  pending: number;
}

/** Transactions of the lanes that the database does not know. */
export interface Lost {
  /** Lowest block first. */
  batches: (LostBatch & { blockNumber: number })[];
  lanes: LaneState[];
  /** The head before the search. */
  head: number;
}

/**
 * Reads every batch on chain, and keeps those of the service's lanes that the database does not have. Blocks in which an
 * interrupted run found nothing are not read again.
 */
export async function findLost(deps: ReconcileDeps, run: Run): Promise<Lost> {
  const head = await deps.client.headNumber();
  const lanes = await laneStates(deps);
  const byAddress = new Map(lanes.map((lane) => [lane.address, lane]));
  const batches: Lost["batches"] = [];
  const chainId = BigInt((await readMeta(deps.database.read, "chain_id")) ?? 0);
  const relay = { addresses: new Set([deps.contracts.relay]), topics: [] };
  const first = Math.max(deps.contracts.deployedAt, run.searchedTo + 1);
  await inRanges(deps.client, first, head, async (from, to) => {
    const logs = await queryLogs(deps.client, relay, { from, to });
    const byTransaction = Map.groupBy(
      logs.flatMap((log) => decodeRelayEvent(log) ?? []),
      (event) => event.transactionHash,
    );
    // Read the chain first: a running service commits a transaction to the database before it broadcasts it.
    const known = await batchesByHash(deps.database.read, [...byTransaction.keys()]);
    const unknown = [...byTransaction.keys()].filter((hash) => !known.has(hash));
    for (const [index, transaction] of (await deps.client.transactions(unknown)).entries()) {
      if (transaction === null)
        throw new ChainUnavailable("the node does not have a transaction whose logs it returned: it is not in sync");
      const lane = byAddress.get(transaction?.from ?? "");
      const events = byTransaction.get(unknown[index] ?? "") ?? [];
      // A node may name a transaction that the lane signed for another chain.
      if (transaction?.chainId !== chainId) continue;
      if (lane !== undefined) batches.push(...lostBatch(deps, transaction, lane, events));
    }
    // No reorg can replace these blocks. What is lost in later ones is kept in memory only, so they are read again.
    if (batches.length > 0) return;
    run.searchedTo = Math.max(run.searchedTo, Math.min(to, head - deps.confirmations));
    await run.write((trx) => storeRun(trx, run));
  });
  await markAdopted(deps, batches, head);
  return { batches, lanes, head };
}

/**
 * Contracts of others may have the mint functions of the service's collections. Nothing is known of what their mints make: these calls
 * count as mints into adopted contracts, also if nobody has adopted the contract any more.
 */
async function markAdopted({ database, client, contracts }: ReconcileDeps, batches: LostBatch[], head: number) {
  const mints = batches.flatMap(({ calls }) => calls.filter(({ command }) => isMint(command)));
  if (mints.length === 0) return;
  const own = new Set((await readIndexedContracts(database.read)).collections.keys());
  const factories = { addresses: new Set(contracts.factories.map(({ address }) => address)), topics: [CREATED_TOPIC] };
  await inRanges(
    client,
    Math.max(contracts.deployedAt, (await checkpointOf(database.read)) + 1),
    head,
    async (from, to) => {
      for (const log of await queryLogs(client, factories, { from, to })) own.add(decodeCreated(log)?.collection ?? "");
    },
  );
  for (const call of mints)
    if (isMint(call.command) && !own.has(call.command.collection))
      call.command = { ...call.command, adopted: { tokenId: null, uri: null } };
}

async function laneStates(deps: ReconcileDeps): Promise<LaneState[]> {
  const { database, client } = deps;
  const lanes = Array.from({ length: MOST_LANES }, (_, lane) => ({ lane, address: deps.laneAddress(lane) }));
  const addresses = lanes.map((lane) => lane.address);
  const [mined, pending] = [await client.highestNonces(addresses), await client.highestNonces(addresses, "pending")];
  // Read the chain first: a running service commits a nonce to the database before it broadcasts.
  const rows = await allLanes(database.read);
  for (const row of rows) {
    const derived = lanes[row.lane]?.address;
    if (derived === row.address) continue;
    throw new OperatorError(
      `Lane ${row.lane.toString()} was ${row.address}; the seed in SEED_FILE makes ${derived ?? "no such lane"}. Set SEED_FILE to the seed of this database.`,
    );
  }
  const known = new Map(rows.map((row) => [row.lane, row.next_nonce]));
  return lanes.map(({ lane, address }, index) => ({
    lane,
    address,
    known: known.get(lane) ?? 0,
    mined: mined[index] ?? 0,
    pending: pending[index] ?? 0,
  }));
}

function lostBatch(
  deps: ReconcileDeps,
  transaction: Transaction,
  { lane, address }: LaneState,
  events: RelayEvent[],
): Lost["batches"] {
  const calls = decodeExecute(transaction.data);
  const closing = events.find((event) => event.kind === "batch-executed");
  if (calls === null || closing === undefined || transaction.hash === null) return [];
  const notRun = new Set(events.flatMap((event) => ("number" in event ? [event.number] : [])));
  const happened = ({ number }: { number: bigint }, position: number) =>
    position < closing.executed && !notRun.has(number);
  // Anyone with a lane's key can make any call. A failed call created no collection.
  const unknown = calls.find((call, position) => happened(call, position) && usesUnknownFactory(call, deps.contracts));
  if (unknown !== undefined) {
    throw new OperatorError(
      `Transaction ${transaction.hash} created a collection with the factory ${unknown.target}, which neither the database nor ` +
        "the deployment file has. Put the newest deployment file into DEPLOYMENTS_DIR, and run this again.",
    );
  }
  return [
    {
      lane,
      address,
      nonce: transaction.nonce,
      blockNumber: closing.blockNumber,
      attempt: {
        hash: transaction.hash,
        raw: transaction.serialized,
        maxFeePerGas: transaction.maxFeePerGas ?? 0n,
        maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? 0n,
        gasLimit: transaction.gasLimit,
      },
      calls: calls.map((call, position): LostCall => ({
        number: call.number,
        command: decodeCommand(call, deps.contracts),
        happened: happened(call, position),
      })),
    },
  ];
}

/** Work on chain that an old backup does not know, and what happens to it. */
export interface Recovery {
  /** Lanes with more transactions on chain than in the database. */
  lanes: { lane: number; address: string; known: number; mined: number }[];
  transactions: number;
  /** Requests of the database that the chain has executed. */
  recognised: number;
  /** Calls on chain whose requests are not in the database. */
  added: number;
  /** Requests that the chain may have executed: ended as failed, or left to run. */
  uncertain: string[];
  /** Wallets that signed on chain and are not in the database. */
  lost_wallets: string[];
}

export interface RecoverOptions {
  dryRun: boolean;
  /** Run requests that the chain may have executed already. */
  runUncertain: boolean;
}

export function isNothing(lost: Lost): boolean {
  return lost.batches.length === 0 && ahead(lost).length === 0 && waiting(lost).length === 0;
}

/** Lanes with transactions in the node's pool that the database does not know. */
function waiting({ lanes }: Lost): LaneState[] {
  return lanes.filter((lane) => lane.pending > Math.max(lane.mined, lane.known));
}

function ahead({ lanes }: Lost): LaneState[] {
  return lanes.filter((lane) => lane.mined > lane.known);
}

/**
 * Makes an old backup safe to run. Its lanes continue at the nonce on chain, executed requests are recognised, and a request
 * that may have been executed is not sent again.
 * @throws OperatorError while transactions that the database does not know may still be mined.
 */
export async function recover(deps: ReconcileDeps, run: Run, lost: Lost, options: RecoverOptions): Promise<Recovery> {
  const { database, now } = deps;
  const unseen = waiting(lost);
  if (unseen.length > 0) {
    throw new OperatorError(
      `The node's transaction pool holds transactions of ${unseen.map((lane) => lane.address).join(", ")} that the database does ` +
        "not know. Make sure that no other service runs with this seed, wait until they are mined, and run this again.",
    );
  }
  const replaced = await replacedOf(deps, lost);
  const vanished = await vanishedOf(deps, lost);
  const uncertain = await uncertainRequests(deps, lost.batches, replaced);
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
  await run.write(async (trx) => {
    // What was read belongs to a state of the database that is gone.
    run.id = randomUUID();
    await storeRun(trx, run);
    await lockLedger(trx);
    [recovery.recognised, recovery.added] = [0, 0];
    const checkpoint = await checkpointOf(trx);
    const first = lost.batches[0]?.blockNumber ?? Infinity;
    // Blocks that were indexed without knowing these batches must be indexed again. Nothing of them is told again.
    await skipTokenEvents(trx);
    if (first <= checkpoint) await rollback(trx, first - 1);
    const perhaps = new Set((await perhapsSent(trx, replaced)).map((request) => request.id));
    for (const batch of replaced) await emptyReplaced(trx, batch, lost.head, now());
    for (const lane of lost.lanes) {
      if (lane.mined > lane.known) await moveLane(trx, { lane: lane.lane, address: lane.address }, lane.mined);
    }
    for (const batch of lost.batches) {
      const { recognised, added } = await adoptBatch(trx, batch, now());
      recovery.recognised += recognised.length;
      recovery.added += added;
    }
    for (const batch of vanished) await closeVanished(trx, batch, lost.head, now());
    // What the operator and the chain have decided since the backup is lost.
    await stopAllMinting(trx, "The database was restored from a backup.");
    const adopted = await numbersAmong(trx, numbers);
    const open = uncertain.filter(({ id, number }) => perhaps.has(id) && !(number !== null && adopted.has(number)));
    if (!options.runUncertain) await failUncertain(trx, open, now());
    await skipFeeds(trx);
  });
  return recovery;
}

/**
 * Batches of the database whose nonce was used by an unknown batch with other requests.
 * @throws OperatorError while a reorg could still replace that batch by the one of the database.
 */
async function replacedOf(deps: ReconcileDeps, lost: Lost): Promise<number[]> {
  const replaced: number[] = [];
  for (const batch of lost.batches) {
    const id = await replacedBatch(deps.database.read, batch);
    if (id === null) continue;
    const missing = batch.blockNumber + deps.confirmations - 1 - lost.head;
    if (missing > 0) {
      throw new OperatorError(
        `Transaction ${batch.attempt.hash}, which the database does not know, is not final yet. Wait for ${missing.toString()} ` +
          "more blocks, and run this again.",
      );
    }
    replaced.push(id);
  }
  return replaced;
}

/** Batches of the database whose nonce was used by another transaction that ran no batch. */
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
 * Requests that may have been sent, for which the chain has a call with the same effect and no other request explains that call.
 * For n such calls these are the n oldest requests. So in the end the chain has each effect as often as it was requested. Of mints into
 * an adopted contract nobody knows which calls have the same effect: each may be any call of the contract.
 */
async function uncertainRequests(
  deps: ReconcileDeps,
  batches: LostBatch[],
  replaced: readonly number[],
): Promise<StoredRequest[]> {
  const effects = new Map<string, number>();
  const called = new Set<string>();
  const known = await numbersAmong(deps.database.read, numbersOf(batches));
  for (const { number, command, happened } of batches.flatMap((batch) => batch.calls)) {
    if (!happened || known.has(number)) continue;
    if ("collection" in command) called.add(command.collection);
    const effect = effectOf(command, deps.contracts);
    // An ERC1155 id is created only once, so that call certainly belongs to the request.
    if (command.kind !== "create-erc1155" && effect !== null) effects.set(effect, (effects.get(effect) ?? 0) + 1);
  }
  if (called.size === 0 && effects.size === 0) return [];
  return (await perhapsSent(deps.database.read, replaced)).filter(({ command }) => {
    if (isAdoptedMint(command)) return called.has(command.collection);
    const effect = effectOf(command, deps.contracts) ?? "";
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
    .flatMap(({ command, happened }) => (happened && isOfWallet(command) ? [command.from] : []));
  const unique = [...new Set(signers)];
  const known = await signingWallets(deps.database.read, unique);
  return unique.filter((address) => !known.has(address));
}
