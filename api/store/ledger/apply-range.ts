import type { CollectionType, Command } from "../../domain/command.ts";
import { returnUntouched } from "../sending/batches.ts";
import { storedBlock } from "./blocks.ts";
import { applyEdit, type ChainEdit, forgetEdits } from "./chain-edits.ts";
import { correctFinal } from "../requests/correct-final.ts";
import { CounterDeltas } from "../db/counters.ts";
import type { Trx } from "../db/engine.ts";
import { forgetForeign } from "./foreign.ts";
import { settleGas } from "../requests/gas-usage.ts";
import { insertCollection } from "../listings/collections.ts";
import { replaceMeta, writeMeta } from "../db/meta.ts";
import {
  addSupply,
  addToHistory,
  type MintContent,
  moveHoldings,
  removeSupply,
  setHolding,
  type StoredMove,
} from "./ownership.ts";
import { releaseReservation } from "../requests/release-reservation.ts";
import type { SettledRequest, StoredRequest } from "../requests/stored-request.ts";
import type { BlockRow } from "../db/schema.ts";
import { settleConfirmed } from "../requests/settle-confirmed.ts";
import { markCertain, markUncertain } from "./uncertain.ts";

/** What a range of blocks says, read and attributed: everything that one database transaction must store. */
export interface BlockRange {
  from: number;
  to: number;
  /** Hash of the block before the range: it continues what is stored, or is not stored. */
  parentHash: string;
  /** Headers to remember, for noticing a reorg. */
  blocks: BlockRow[];
  /** Transactions of ours, in the order of the chain. */
  batches: {
    batchId: number;
    transactionHash: string;
    blockNumber: number;
    timestamp: number;
    /** Gas that the transaction used. Left out where nobody needs to know, or the node could not tell. */
    gasUsed?: number;
    outcomes: SettledRequest[];
    untouched: StoredRequest[];
  }[];
  /** Moves of the service's collections and of foreign contracts, in the order of the chain. */
  moves: { move: StoredMove; type: CollectionType; foreign: boolean; mintedBy: StoredRequest | null }[];
  changes: ChainEdit[];
  /** What wallets hold of foreign contracts, as their contracts say; null where the node could not tell yet. */
  foreignHoldings: { contract: string; tokenId: string; owner: string; quantity: bigint | null }[];
  /** Addresses among the ends of the moves that are wallets of the service. */
  wallets: Set<string>;
  /** Everything up to this block is deep enough. */
  confirmed: number;
  /** Older headers than this are not needed any more. */
  forgetBlocksBefore: number;
}

/** The owner and the hosting facts of a new collection that only the chain client knows. */
export interface CreationFacts {
  relayOwner: string;
}

/**
 * Stores a range: ownership, history, outcomes, settled requests, outgoing events and the checkpoint, all in the
 * caller's transaction.
 * @returns false when another process has stored these blocks, or has rolled back the ones before; nothing is changed then.
 */
export async function applyRange(trx: Trx, range: BlockRange, facts: CreationFacts, now: number): Promise<boolean> {
  const previous = await storedBlock(trx, range.from - 1);
  if (previous !== undefined && previous.hash !== range.parentHash) return false;
  const moved = await replaceMeta(trx, "checkpoint", (range.from - 1).toString(), range.to.toString());
  if (!moved) return false;
  await rememberBlocks(trx, range);
  const counters = new CounterDeltas();
  for (const batch of range.batches) await applyOutcomes(trx, batch, facts, counters, now);
  for (const entry of range.moves) await applyMove(trx, entry, range, counters);
  for (const holding of range.foreignHoldings) await applyForeign(trx, holding, range.to, counters);
  for (const change of range.changes) await applyEdit(trx, change);
  await forgetEdits(trx, range.forgetBlocksBefore);
  await counters.flush(trx);
  await writeMeta(trx, "confirmed_block", range.confirmed.toString());
  await settleConfirmed(trx, range.confirmed, now);
  return true;
}

async function rememberBlocks(trx: Trx, range: BlockRange): Promise<void> {
  if (range.blocks.length > 0) await trx.insertInto("blocks").values(range.blocks).execute();
  await trx.deleteFrom("blocks").where("number", "<", range.forgetBlocksBefore).execute();
}

async function applyOutcomes(
  trx: Trx,
  batch: BlockRange["batches"][number],
  facts: CreationFacts,
  counters: CounterDeltas,
  now: number,
): Promise<void> {
  await trx
    .updateTable("batches")
    .set({ status: "closed", block_number: batch.blockNumber })
    .where("id", "=", batch.batchId)
    .execute();
  for (const { request, outcome } of batch.outcomes) {
    const made = outcome.ok
      ? {
          nft_collection: outcome.collection ?? request.nft_collection,
          nft_token_id: outcome.tokenId ?? request.nft_token_id,
        }
      : {};
    const updated = await trx
      .updateTable("requests")
      .set({
        outcome: JSON.stringify(outcome),
        transaction_hash: batch.transactionHash,
        block_number: batch.blockNumber,
        ready_at: null,
        lane: null,
        ...made,
        updated_at: now,
      })
      .where("id", "=", request.id)
      .where("status", "in", ["pending", "processing"])
      .where("outcome", "is", null)
      .executeTakeFirst();
    if (updated.numUpdatedRows !== 1n) {
      await correctFinal(trx, { request, outcome }, batch, now);
      continue;
    }
    const { command } = request;
    await releaseReservation(trx, command, outcome.ok);
    if (outcome.ok && command.kind === "create-collection" && outcome.collection !== null) {
      await forgetForeign(trx, outcome.collection, counters);
      await insertCollection(trx, request, command, {
        address: outcome.collection,
        owner: command.newOwner ?? facts.relayOwner,
        blockNumber: batch.blockNumber,
        createdAt: batch.timestamp,
      });
    }
  }
  const ran = batch.outcomes.map(({ request }) => request);
  if (batch.gasUsed !== undefined) await settleGas(trx, ran, batch.gasUsed);
  for (const request of batch.untouched) await returnUntouched(trx, request, batch.batchId, now);
}

async function applyMove(
  trx: Trx,
  entry: BlockRange["moves"][number],
  range: BlockRange,
  counters: CounterDeltas,
): Promise<void> {
  const { move, type, foreign, mintedBy } = entry;
  await addToHistory(trx, move, range.wallets, counters);
  if (foreign) return;
  if (move.from === null) {
    await addSupply(trx, move, type, mintedBy === null ? null : contentOf(mintedBy.command), counters);
  }
  if (move.to === null) await removeSupply(trx, move, counters);
  await moveHoldings(trx, move, move.blockNumber, counters);
}

function contentOf(command: Command): MintContent | null {
  switch (command.kind) {
    case "mint-erc721":
      return { metadata: command.metadata, tokenUri: null };
    case "create-erc1155":
      return { metadata: command.metadata, tokenUri: command.uri };
    default:
      return null;
  }
}

async function applyForeign(
  trx: Trx,
  holding: BlockRange["foreignHoldings"][number],
  block: number,
  counters: CounterDeltas,
): Promise<void> {
  if (holding.quantity === null) {
    await markUncertain(trx, holding);
    return;
  }
  await markCertain(trx, holding);
  await setHolding(trx, holding, holding.quantity, block, counters);
}
