import type { Transaction } from "ethers";

import { MOST_LANES } from "../../config/parsers.ts";
import { decodeCommand, decodeExecute, usesUnknownFactory } from "../../chain/codec/decode-call.ts";
import { ChainUnavailable } from "../../chain/errors.ts";
import { decodeRelayEvent, type RelayEvent } from "../../chain/codec/decode.ts";
import { queryLogs } from "../../chain/query-logs.ts";
import { readMeta } from "../../store/db/meta.ts";
import { batchesByHash } from "../../store/sending/batches.ts";
import { allLanes } from "../../store/sending/lanes.ts";
import type { LostBatch, LostCall } from "../../store/reconcile/adopt-lost-batches.ts";
import { OperatorError } from "../operator-error.ts";
import type { ReconcileDeps, RunLease } from "./run.ts";
import { inRanges } from "./replay.ts";

export interface LaneState {
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
export async function findLost(deps: ReconcileDeps, run: RunLease): Promise<Lost> {
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
    if (batches.length === 0) await run.searched(Math.min(to, head - deps.confirmations));
  });
  return { batches, lanes, head };
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
