import type { CollectionType, TokenMetadata } from "../../domain/command.ts";
import { MAX_QUANTITY } from "../../domain/numbers.ts";
import type { Trx } from "../db/engine.ts";

/*
 * A reservation is what an accepted request takes before it is on chain: a place under the cap, an ERC1155 id, copies of a
 * holding. Each is taken by one conditional update, so of two requests that cannot both succeed one is refused at once.
 * It ends when the request's call is seen on chain (the chain's own figures take over) or the request has failed.
 */

/** @returns false when the cap is reached. */
export async function reserveErc721Mint(trx: Trx, collection: string): Promise<boolean> {
  const updated = await trx
    .updateTable("collections")
    .set((eb) => ({ reserved: eb("reserved", "+", 1) }))
    .where("address", "=", collection)
    .where((eb) =>
      eb.or([eb("max_supply", "is", null), eb(eb("minted", "+", eb.ref("reserved")), "<", eb.ref("max_supply"))]),
    )
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n;
}

/** Inserts the token's row; listings show it once its mint is on chain. @returns false when the id exists or is reserved. */
export async function reserveErc1155Create(
  trx: Trx,
  token: {
    collection: string;
    tokenId: string;
    quantity: string;
    requestId: string;
    uri: string | null;
    metadata: TokenMetadata | null;
  },
): Promise<boolean> {
  const inserted = await trx
    .insertInto("nfts")
    .values({
      contract: token.collection,
      token_id: token.tokenId,
      request_id: token.requestId,
      supply: "0",
      reserved: token.quantity,
      token_uri: token.uri,
      metadata: token.metadata === null ? null : JSON.stringify(token.metadata),
      minted_block: null,
      minted_at: null,
    })
    .onConflict((conflict) => conflict.columns(["contract", "token_id"]).doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

/** Reserves further copies of an id. It must be on chain, and its total must stay within uint128. */
export async function reserveErc1155Mint(
  trx: Trx,
  collection: string,
  tokenId: string,
  quantity: bigint,
): Promise<"ok" | "token_not_found" | "supply_exceeded"> {
  for (;;) {
    const token = await trx
      .selectFrom("nfts")
      .select(["supply", "reserved", "minted_block"])
      .where("contract", "=", collection)
      .where("token_id", "=", tokenId)
      .executeTakeFirst();
    if (token?.minted_block == null) return "token_not_found";
    const reserved = BigInt(token.reserved) + quantity;
    if (BigInt(token.supply) + reserved > MAX_QUANTITY) return "supply_exceeded";
    const updated = await trx
      .updateTable("nfts")
      .set({ reserved: reserved.toString() })
      .where("contract", "=", collection)
      .where("token_id", "=", tokenId)
      .where("supply", "=", token.supply)
      .where("reserved", "=", token.reserved)
      .executeTakeFirst();
    if (updated.numUpdatedRows === 1n) return "ok";
  }
}

/** Reserves copies that the wallet holds and that no earlier transfer has reserved. */
export async function reserveTransfer(
  trx: Trx,
  contract: string,
  tokenId: string,
  from: string,
  quantity: bigint,
  type: CollectionType,
): Promise<"ok" | "insufficient_balance" | "token_busy" | "token_not_found"> {
  for (;;) {
    const holding = await trx
      .selectFrom("holdings")
      .select(["seq", "quantity", "reserved"])
      .where("contract", "=", contract)
      .where("token_id", "=", tokenId)
      .where("owner", "=", from)
      .executeTakeFirst();
    if (holding === undefined)
      return (await tokenIsKnown(trx, contract, tokenId)) ? "insufficient_balance" : "token_not_found";
    if (type === "ERC721" && holding.reserved !== "0") return "token_busy";
    const reserved = BigInt(holding.reserved) + quantity;
    if (reserved > BigInt(holding.quantity)) return "insufficient_balance";
    const updated = await trx
      .updateTable("holdings")
      .set({ reserved: reserved.toString() })
      .where("seq", "=", holding.seq)
      .where("quantity", "=", holding.quantity)
      .where("reserved", "=", holding.reserved)
      .executeTakeFirst();
    if (updated.numUpdatedRows === 1n) return "ok";
  }
}

async function tokenIsKnown(trx: Trx, contract: string, tokenId: string): Promise<boolean> {
  const nft = await trx
    .selectFrom("nfts")
    .select("minted_block")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .executeTakeFirst();
  if (nft?.minted_block != null) return true;
  const held = await trx
    .selectFrom("holdings")
    .select("seq")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .limit(1)
    .executeTakeFirst();
  return held !== undefined;
}
