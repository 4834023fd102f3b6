import { CounterDeltas, counterKeys } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import type { Trx } from "../db/engine.ts";
import { undoEdits } from "./chain-edits.ts";
import { readMeta, writeMeta } from "../db/meta.ts";
import { moveHoldings } from "./ownership.ts";
import { reserveAgain } from "../requests/release-reservation.ts";
import { type StoredRequest, toRequest } from "../requests/stored-request.ts";
import type { TransferRow } from "../db/schema.ts";
import { markUncertain } from "./uncertain.ts";

/**
 * Takes back everything stored from blocks above `fork`, which the chain has dropped: rows, totals, outcomes that are not
 * final yet. The batches are open again, so their bytes are sent again. Final statuses stay as they are.
 */
export async function rollback(trx: Trx, fork: number): Promise<void> {
  const counters = new CounterDeltas();
  await undoEdits(trx, fork);
  await undoTransfers(trx, fork, counters);
  await undoForeign(trx, fork);
  await trx
    .updateTable("batches")
    .set({ status: "open", block_number: null })
    .where("block_number", ">", fork)
    .execute();
  await undoOutcomes(trx, fork);
  await undoMints(trx, fork);
  await trx.deleteFrom("collections").where("block_number", ">", fork).where("listed", "=", 0).execute();
  await trx.deleteFrom("blocks").where("number", ">", fork).execute();
  await counters.flush(trx);
  const confirmed = Number((await readMeta(trx, "confirmed_block")) ?? fork);
  await writeMeta(trx, "confirmed_block", Math.min(confirmed, fork).toString());
  await writeMeta(trx, "checkpoint", fork.toString());
}

async function undoTransfers(trx: Trx, fork: number, counters: CounterDeltas): Promise<void> {
  const dropped = await trx
    .selectFrom("transfers")
    .selectAll()
    .where("block_number", ">", fork)
    .orderBy("id", "desc")
    .execute();
  const foreign = await foreignAmong(trx, dropped);
  for (const row of dropped) {
    counters.add(counterKeys.tokenHistory(row.contract, row.token_id), -1);
    const wallets = await trx
      .deleteFrom("wallet_history")
      .where("transfer_id", "=", row.id)
      .returning("wallet")
      .execute();
    for (const { wallet } of wallets) {
      counters.add(counterKeys.walletHistory(wallet), -1);
      if (foreign.has(row.contract)) {
        await markUncertain(trx, { contract: row.contract, tokenId: row.token_id, owner: wallet });
      }
    }
    await trx.deleteFrom("transfers").where("id", "=", row.id).execute();
    if (!foreign.has(row.contract)) await undoMove(trx, row, fork, counters);
  }
}

/** What was read of foreign contracts in dropped blocks is read again, and what followed is followed from the fork. */
async function undoForeign(trx: Trx, fork: number): Promise<void> {
  const read = await trx
    .selectFrom("foreign_contracts")
    .innerJoin("holdings", "holdings.contract", "foreign_contracts.address")
    .select(["holdings.contract", "holdings.token_id as tokenId", "holdings.owner"])
    .where("holdings.since_block", ">", fork)
    .execute();
  for (const holding of read) await markUncertain(trx, holding);
  await trx.updateTable("foreign_contracts").set({ followed_from: fork }).where("followed_from", ">", fork).execute();
}

async function undoMove(trx: Trx, row: TransferRow, fork: number, counters: CounterDeltas): Promise<void> {
  const token = { contract: row.contract, tokenId: row.token_id, quantity: row.quantity };
  await moveHoldings(trx, { ...token, from: row.to_address, to: row.from_address }, fork, counters);
  if (row.type === "transfer") return;
  const nft = await trx
    .selectFrom("nfts")
    .select(["seq", "supply"])
    .where("contract", "=", row.contract)
    .where("token_id", "=", row.token_id)
    .executeTakeFirstOrThrow();
  const before = BigInt(nft.supply);
  const after = row.type === "mint" ? before - BigInt(row.quantity) : before + BigInt(row.quantity);
  await trx.updateTable("nfts").set({ supply: after.toString() }).where("seq", "=", nft.seq).execute();
  if (before === 0n) counters.add(counterKeys.nfts(row.contract), 1);
  if (after === 0n) counters.add(counterKeys.nfts(row.contract), -1);
}

/** Tokens whose first mint was dropped: an id that a request reserves stays reserved, any other is gone. */
async function undoMints(trx: Trx, fork: number): Promise<void> {
  const dropped = await trx
    .selectFrom("nfts")
    .select(["seq", "contract", "reserved"])
    .where("minted_block", ">", fork)
    .execute();
  for (const row of dropped) {
    if (row.reserved !== "0") {
      await trx.updateTable("nfts").set({ minted_block: null, minted_at: null }).where("seq", "=", row.seq).execute();
    } else {
      await trx.deleteFrom("nfts").where("seq", "=", row.seq).execute();
    }
    await trx
      .updateTable("collections")
      .set((eb) => ({ minted: eb("minted", "-", 1) }))
      .where("address", "=", row.contract)
      .execute();
  }
}

async function undoOutcomes(trx: Trx, fork: number): Promise<void> {
  const dropped = await trx
    .selectFrom("requests")
    .selectAll()
    .where("outcome", "is not", null)
    .where("block_number", ">", fork)
    .execute();
  for (const request of dropped.map(toRequest)) {
    const { command, outcome } = request;
    await reserveAgain(trx, request);
    await trx
      .updateTable("requests")
      .set({
        outcome: null,
        block_number: null,
        // A batch that had given it back ran it after all. None may bring it back now: it goes into another.
        ...((await isUnderWay(trx, request)) ? {} : { batch_id: null, ready_at: AT_ONCE }),
        // An ERC721 id was the chain's choice; it may choose another one now.
        ...(outcome?.ok === true && command.kind === "mint-erc721" ? { nft_token_id: null } : {}),
      })
      .where("id", "=", request.id)
      .execute();
  }
}

/** Whether a batch that is open would give the request back if it came to nothing. */
async function isUnderWay(trx: Trx, request: Pick<StoredRequest, "batch_id">): Promise<boolean> {
  if (request.batch_id === null) return false;
  const batch = await trx
    .selectFrom("batches")
    .select("id")
    .where("id", "=", request.batch_id)
    .where("status", "=", "open")
    .executeTakeFirst();
  return batch !== undefined;
}

async function foreignAmong(trx: Trx, rows: TransferRow[]): Promise<Set<string>> {
  const contracts = [...new Set(rows.map((row) => row.contract))];
  if (contracts.length === 0) return new Set();
  const foreign = await trx
    .selectFrom("foreign_contracts")
    .select("address")
    .where("address", "in", contracts)
    .execute();
  return new Set(foreign.map((row) => row.address));
}
