import { sql, type SqlBool } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { CounterDeltas } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import { type Db, forUpdate, integerSet, rowSet, type Trx } from "../db/sql.ts";
import { undoEdits } from "./chain-edits.ts";
import { deleteMeta, readMeta, writeMeta } from "../db/meta.ts";
import { hiddenFrom, hideFrom } from "./hidden-history.ts";
import { deleteHistory } from "./history.ts";
import { HoldingSet } from "./holding-set.ts";
import { countMinted, TokenSet } from "./token-set.ts";
import { undoCosts } from "../requests/costs.ts";
import { chargeAgain } from "../requests/gas-usage.ts";
import { reserveAgain } from "../requests/reservations.ts";
import { type StoredRequest, toRequest } from "../requests/requests.ts";
import { enqueueEvents } from "../outbox/events.ts";
import type { TransferRow } from "../db/schema.ts";
import { correctTokenEvents, isReadAgain } from "./token-events.ts";
import { markUncertain } from "./uncertain.ts";
import { adoptedAmong, noteForeignChange, noteRemovedCollections } from "./indexed-contracts.ts";

/** Entries of the history that one commit deletes. Those of a larger block are hidden, and deleted afterwards. */
export const MOST_DELETED = 2_000;

/**
 * The lowest block to which one commit of moderate size rolls back: the history above it has few entries, or is that of one block.
 */
export async function rollbackStep(db: Db, fork: number, checkpoint: number): Promise<number> {
  const above = await db
    .selectFrom("transfers")
    .select("block_number")
    .where("block_number", ">", fork)
    .orderBy("block_number", "desc")
    .offset(MOST_DELETED)
    .limit(1)
    .executeTakeFirst();
  return above === undefined ? fork : Math.min(above.block_number, checkpoint - 1);
}

/**
 * Undoes everything that was stored from blocks above `fork`, which the chain has dropped: rows, totals, and outcomes that are
 * not final. Their batches are open again, so the signed bytes are sent again. Final statuses stay. Apps get `dropped` and
 * `corrected`. Where the history of these
 * blocks is long, its rows are hidden, and the caller removes them afterwards (`removeHidden`). The caller's transaction has
 * locked the ledger.
 */
export async function rollback(trx: Trx, fork: number, now = Date.now()): Promise<void> {
  const counters = new CounterDeltas();
  await undoEdits(trx, fork);
  await undoTransfers(trx, fork, counters);
  await undoForeign(trx, fork);
  const paying = await undoCosts(trx, fork, counters);
  await trx
    .updateTable("batches")
    .set({ status: "open", block_number: null, gas_used: null, fee_wei: null, cost_day: null, ran: 0 })
    .where("block_number", ">", fork)
    .execute();
  const undecided = await undoOutcomes(trx, fork);
  await chargeAgain(trx, [...paying, ...undecided]);
  await undoMints(trx, fork);
  await removeCollections(trx, fork);
  await trx.deleteFrom("blocks").where("number", ">", fork).execute();
  const marked = await readMeta(trx, "unknown_transaction_block");
  if (marked !== null && Number(marked) > fork) await forgetUnknown(trx);
  await counters.flush(trx);
  const confirmed = Number((await readMeta(trx, "confirmed_block")) ?? fork);
  await writeMeta(trx, "confirmed_block", Math.min(confirmed, fork).toString());
  await writeMeta(trx, "checkpoint", fork.toString());
  // Last, because events lock the sequences of their apps.
  if (!(await isReadAgain(trx))) await announceDropped(trx, undecided, now);
  await correctTokenEvents(trx, fork, now);
}

/** @param dropped with their outcomes. */
function announceDropped(trx: Trx, dropped: readonly StoredRequest[], now: number): Promise<void> {
  const events = dropped.map((request) => ({
    request: { ...request, nft_collection: null, nft_token_id: null },
    type: "dropped" as const,
    blockNumber: request.block_number ?? undefined,
  }));
  return enqueueEvents(trx, events, now);
}

/** The mark of a lane's transaction that the database does not know. The next block that has it marks it again. */
export async function forgetUnknown(trx: Trx): Promise<void> {
  await deleteMeta(trx, "unknown_transaction");
  await deleteMeta(trx, "unknown_transaction_block");
}

async function removeCollections(trx: Trx, fork: number): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom("collections")
    .where("block_number", ">", fork)
    .where("listed", "=", sql.lit(0))
    .executeTakeFirst();
  if (numDeletedRows > 0n) await noteRemovedCollections(trx);
}

async function undoTransfers(trx: Trx, fork: number, counters: CounterDeltas): Promise<void> {
  const hidden = (await hiddenFrom(trx)) ?? Infinity;
  const rows = await trx.selectFrom("transfers").selectAll().where("block_number", ">", fork).execute();
  const dropped = rows.filter(({ id }) => id < hidden);
  // Sorted here: for an order by id, SQLite would read the whole table in that order instead of the blocks' index.
  dropped.sort((a, b) => b.id - a.id);
  const found = await foreignAmong(trx, dropped);
  const adopted = await adoptedAmong(trx, found.keys());
  const foreign = new Set([...found.keys()].filter((contract) => !adopted.has(contract)));
  await undoHistory(trx, dropped, { foreign, fork }, counters);
  // What was stored for followers of an adopted contract, and is not read back yet, has changed no holdings.
  const isRead = ({ contract, block_number: block }: TransferRow) => block <= (found.get(contract) ?? block);
  const moved = dropped.filter(
    (row) => !foreign.has(row.contract) && isRead(row) && row.from_address !== row.to_address,
  );
  await undoMoves(trx, moved, { fork, adopted }, counters);
}

/** Removes moves from all histories. Balances in foreign contracts must be read again. */
async function undoHistory(
  trx: Trx,
  dropped: readonly TransferRow[],
  { foreign, fork }: { foreign: ReadonlySet<string>; fork: number },
  counters: CounterDeltas,
): Promise<void> {
  if (dropped.length === 0) return;
  const hides = dropped.length > MOST_DELETED;
  const entries = await deleteHistory(trx, dropped, counters, { hides });
  if (hides) await hideFrom(trx, dropped.at(-1)?.id ?? 0);
  const byId = new Map(dropped.map((row) => [row.id, row]));
  const uncertain = entries.flatMap(({ wallet: owner, transfer_id: id }) => {
    const row = byId.get(id);
    if (row === undefined || !foreign.has(row.contract)) return [];
    return [{ contract: row.contract, tokenId: row.token_id, owner }];
  });
  await markUncertain(trx, uncertain, { block: fork, completeTo: fork });
}

/** @param dropped newest first. */
async function undoMoves(
  trx: Trx,
  dropped: readonly TransferRow[],
  { fork, adopted }: { fork: number; adopted: ReadonlyMap<string, { type: CollectionType }> },
  counters: CounterDeltas,
): Promise<void> {
  const moves = dropped.map((row) => ({
    contract: row.contract,
    tokenId: row.token_id,
    quantity: row.quantity,
    // When the restored quantity last changed is not known: no later than in the last block that stays.
    blockNumber: fork,
    from: row.to_address,
    to: row.from_address,
    type: row.type,
  }));
  const tokens = await TokenSet.read(
    trx,
    moves.filter(({ type, contract }) => type !== "transfer" || adopted.has(contract)),
  );
  const ends = moves.flatMap(({ contract, tokenId, from, to }) =>
    [from, to].flatMap((owner) => (owner === null ? [] : [{ contract, tokenId, owner }])),
  );
  const holdings = await HoldingSet.read(trx, ends);
  for (const move of moves) {
    const type = adopted.get(move.contract)?.type;
    if (type !== undefined) {
      tokens.moveByEvent({ ...move, timestamp: 0 }, type, { undone: true });
      holdings.moveByEvent(move, type, fork);
      continue;
    }
    if (move.type === "mint") tokens.undoMint(move);
    if (move.type === "burn") tokens.undoBurn(move);
    holdings.move(move, fork);
  }
  await tokens.store(trx, counters);
  await holdings.store(trx, counters);
}

/** Marks balances that were read in dropped blocks to be read again, and follows their contracts from the fork on. */
async function undoForeign(trx: Trx, fork: number): Promise<void> {
  const read = await trx
    .selectFrom("holdings")
    .select(["holdings.contract", "holdings.token_id as tokenId", "holdings.owner"])
    .where("holdings.since_block", ">", fork)
    .where((eb) => {
      const foreign = eb.selectFrom("foreign_contracts").select("foreign_contracts.address");
      return eb.exists(foreign.whereRef("foreign_contracts.address", "=", "holdings.contract"));
    })
    .execute();
  await markUncertain(trx, read, { block: fork, completeTo: fork });
  // Whoever reads the past of a contract loses its lease.
  const due_at = sql<number | null>`case when state = 'reading' then cast(${AT_ONCE} as bigint) else due_at end`;
  await trx.updateTable("foreign_contracts").set({ as_of: fork, due_at }).where("as_of", ">", fork).execute();
  await trx.updateTable("contract_reads").set({ complete_to: fork }).where("complete_to", ">", fork).execute();
  const { numUpdatedRows } = await trx
    .updateTable("contract_follows")
    .set({ followed_from: fork })
    .where("followed_from", ">", fork)
    // What was mined before a contract was adopted makes no events for its app, in whatever block it is now.
    .where(
      sql<SqlBool>`not exists (select 1 from collections where collections.address = contract_follows.address
                                       and collections.app_id = contract_follows.app_id)`,
    )
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await noteForeignChange(trx);
}

/** Handles tokens whose first mint was dropped: reserved ids stay reserved, the other rows are deleted. */
async function undoMints(trx: Trx, fork: number): Promise<void> {
  const { rows: dropped } = await sql<{ seq: number; contract: string; reserved: string }>`
    select seq, contract, reserved from nfts where minted_block > ${fork} ${forUpdate(trx)}`.execute(trx);
  if (dropped.length === 0) return;
  const reserved = dropped.filter((row) => row.reserved !== "0").map(({ seq }) => seq);
  const gone = dropped.filter((row) => row.reserved === "0").map(({ seq }) => seq);
  await sql`
    update nfts set minted_block = null, minted_at = null where seq in ${integerSet(trx, reserved)}`.execute(trx);
  await sql`delete from nfts where seq in ${integerSet(trx, gone)}`.execute(trx);
  await countMinted(trx, dropped, -1);
}

/** @returns the requests that have no outcome any more. */
async function undoOutcomes(trx: Trx, fork: number): Promise<StoredRequest[]> {
  const dropped = await trx
    .selectFrom("requests")
    .selectAll()
    .where("outcome", "is not", null)
    .where("block_number", ">", fork)
    .execute();
  if (dropped.length === 0) return [];
  const requests = dropped.map(toRequest);
  await reserveAgain(trx, requests);
  const rows = requests.map(({ id, command, outcome, nft_collection: collection, nft_token_id: tokenId }) => ({
    id,
    // There is no such collection now, and there may never be one: its number may be cancelled.
    nft_collection: command.kind === "create-collection" ? null : collection,
    // The chain chooses ERC721 ids, and may choose another one next time.
    nft_token_id: outcome?.ok === true && command.kind === "mint-erc721" ? null : tokenId,
  }));
  // A request that no open batch carries was returned by its batch, which ran it after all. No batch returns it again, so it is
  // ready now.
  const isUnderWay = sql`exists (select 1 from batches where batches.id = requests.batch_id and status = 'open')`;
  await sql`
    update requests set outcome = null, block_number = null,
           nft_collection = input.nft_collection, nft_token_id = input.nft_token_id,
           ready_at = case when ${isUnderWay} then requests.ready_at else ${AT_ONCE} end,
           batch_id = case when ${isUnderWay} then requests.batch_id end
      from ${rowSet(trx, { id: "text", nft_collection: "text", nft_token_id: "text" }, rows)} as input
     where requests.id = input.id`.execute(trx);
  return requests;
}

/** @returns by contract, the block up to which its logs are read; null: to the newest. */
async function foreignAmong(trx: Trx, rows: TransferRow[]): Promise<Map<string, number | null>> {
  const contracts = [...new Set(rows.map((row) => row.contract))];
  if (contracts.length === 0) return new Map();
  const foreign = await trx
    .selectFrom("foreign_contracts")
    .select(["address", "as_of"])
    .where("address", "in", contracts)
    .execute();
  return new Map(foreign.map((row) => [row.address, row.as_of]));
}
