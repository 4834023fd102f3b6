import type { CollectionType, TokenMetadata } from "../../domain/command.ts";
import { type CounterDeltas, counterKeys } from "../db/counters.ts";
import type { Trx } from "../db/engine.ts";

/** One movement of copies of a token, as a log shows it, ready to be stored. */
export interface StoredMove {
  contract: string;
  tokenId: string;
  quantity: string;
  from: string | null;
  to: string | null;
  transactionHash: string;
  blockNumber: number;
  logIndex: number;
  subIndex: number;
  /** Milliseconds. */
  timestamp: number;
  requestId: string | null;
}

/** What a mint brings along when it belongs to a request. */
export interface MintContent {
  metadata: TokenMetadata | null;
  tokenUri: string | null;
}

/** Adds to the history of the token, and of those of the two ends that are wallets of the service. */
export async function addToHistory(
  trx: Trx,
  move: StoredMove,
  wallets: Set<string>,
  counters: CounterDeltas,
): Promise<void> {
  const { id } = await trx
    .insertInto("transfers")
    .values({
      contract: move.contract,
      token_id: move.tokenId,
      type: move.from === null ? "mint" : move.to === null ? "burn" : "transfer",
      quantity: move.quantity,
      from_address: move.from,
      to_address: move.to,
      transaction_hash: move.transactionHash,
      block_number: move.blockNumber,
      log_index: move.logIndex,
      sub_index: move.subIndex,
      timestamp: move.timestamp,
      request_id: move.requestId,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  counters.add(counterKeys.tokenHistory(move.contract, move.tokenId), 1);
  for (const wallet of new Set([move.from, move.to])) {
    if (wallet === null || !wallets.has(wallet)) continue;
    await trx.insertInto("wallet_history").values({ wallet, transfer_id: id }).execute();
    counters.add(counterKeys.walletHistory(wallet), 1);
  }
}

/** Moves copies between holders of a token of one of the service's collections. */
export async function moveHoldings(
  trx: Trx,
  move: Pick<StoredMove, "contract" | "tokenId" | "quantity" | "from" | "to">,
  sinceBlock: number,
  counters: CounterDeltas,
): Promise<void> {
  if (move.from === move.to) return;
  const quantity = BigInt(move.quantity);
  if (move.from !== null)
    await changeHolding(trx, move.contract, move.tokenId, move.from, -quantity, sinceBlock, counters);
  if (move.to !== null) await changeHolding(trx, move.contract, move.tokenId, move.to, quantity, sinceBlock, counters);
}

async function changeHolding(
  trx: Trx,
  contract: string,
  tokenId: string,
  owner: string,
  delta: bigint,
  sinceBlock: number,
  counters: CounterDeltas,
): Promise<void> {
  const row = await trx
    .selectFrom("holdings")
    .select("quantity")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .where("owner", "=", owner)
    .executeTakeFirst();
  await setHolding(trx, { contract, tokenId, owner }, BigInt(row?.quantity ?? 0) + delta, sinceBlock, counters);
}

/** Stores how many copies an owner holds; none removes the row. */
export async function setHolding(
  trx: Trx,
  holding: { contract: string; tokenId: string; owner: string },
  quantity: bigint,
  sinceBlock: number,
  counters: CounterDeltas,
): Promise<void> {
  const { contract, tokenId, owner } = holding;
  if (quantity < 0n) throw new Error(`${owner} would hold ${quantity.toString()} of ${contract}/${tokenId}`);
  const count = (delta: number) => {
    counters.add(counterKeys.holdings(owner), delta);
    counters.add(counterKeys.holdingsOfContract(owner, contract), delta);
    counters.add(counterKeys.owners(contract, tokenId), delta);
  };
  if (quantity === 0n) {
    const deleted = await trx
      .deleteFrom("holdings")
      .where("contract", "=", contract)
      .where("token_id", "=", tokenId)
      .where("owner", "=", owner)
      .executeTakeFirst();
    count(-Number(deleted.numDeletedRows));
    return;
  }
  const updated = await trx
    .updateTable("holdings")
    .set({ quantity: quantity.toString() })
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .where("owner", "=", owner)
    .executeTakeFirst();
  if (updated.numUpdatedRows > 0n) return;
  await trx
    .insertInto("holdings")
    .values({
      contract,
      token_id: tokenId,
      owner,
      quantity: quantity.toString(),
      reserved: "0",
      since_block: sinceBlock,
    })
    .execute();
  count(1);
}

/** Adds minted copies to a token of one of the service's collections, and the token itself at its first mint. */
export async function addSupply(
  trx: Trx,
  move: StoredMove,
  type: CollectionType,
  content: MintContent | null,
  counters: CounterDeltas,
): Promise<void> {
  const token = await tokenOf(trx, move);
  const supply = (BigInt(token?.supply ?? 0) + BigInt(move.quantity)).toString();
  const first = token?.minted_block == null;
  if (token === undefined) {
    await trx
      .insertInto("nfts")
      .values({
        contract: move.contract,
        token_id: move.tokenId,
        request_id: move.requestId,
        supply,
        reserved: "0",
        token_uri: content?.tokenUri ?? null,
        metadata: content?.metadata == null ? null : JSON.stringify(content.metadata),
        minted_block: move.blockNumber,
        minted_at: move.timestamp,
      })
      .execute();
  } else {
    // A reserved id that somebody else was faster to create is that somebody's: nothing of the reserving request (its
    // metadata, its unlockable content) may hang on it.
    const taken = first && (move.requestId === null || token.request_id !== move.requestId);
    await trx
      .updateTable("nfts")
      .set({
        supply,
        ...(first ? { minted_block: move.blockNumber, minted_at: move.timestamp } : {}),
        ...(taken
          ? {
              request_id: move.requestId,
              token_uri: content?.tokenUri ?? null,
              metadata: content?.metadata == null ? null : JSON.stringify(content.metadata),
            }
          : {}),
      })
      .where("seq", "=", token.seq)
      .execute();
  }
  if (first) {
    await trx
      .updateTable("collections")
      .set((eb) => ({ minted: eb("minted", "+", 1) }))
      .where("address", "=", move.contract)
      .execute();
  } else if (type === "ERC721") {
    throw new Error(`${move.contract}/${move.tokenId} was minted twice`);
  }
  if (first || token.supply === "0") counters.add(counterKeys.nfts(move.contract), 1);
}

/** Takes burnt copies away. The row stays: its id is never minted again (ERC721) or may come back (ERC1155). */
export async function removeSupply(
  trx: Trx,
  move: Pick<StoredMove, "contract" | "tokenId" | "quantity">,
  counters: CounterDeltas,
): Promise<void> {
  const token = await tokenOf(trx, move);
  if (token === undefined) throw new Error(`${move.contract}/${move.tokenId} was burnt but never minted`);
  const supply = BigInt(token.supply) - BigInt(move.quantity);
  await trx.updateTable("nfts").set({ supply: supply.toString() }).where("seq", "=", token.seq).execute();
  if (supply === 0n) counters.add(counterKeys.nfts(move.contract), -1);
}

function tokenOf(trx: Trx, token: { contract: string; tokenId: string }) {
  return trx
    .selectFrom("nfts")
    .select(["seq", "supply", "minted_block", "request_id"])
    .where("contract", "=", token.contract)
    .where("token_id", "=", token.tokenId)
    .executeTakeFirst();
}
