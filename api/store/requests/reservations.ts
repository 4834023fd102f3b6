import type { CollectionType, Command, TokenMetadata } from "../../domain/command.ts";
import { MAX_QUANTITY } from "../../domain/numbers.ts";
import type { Trx } from "../db/engine.ts";
import { startFreezing, stopFreezing } from "./freezing.ts";
import type { StoredRequest } from "./stored-request.ts";

/*
 * What an accepted request takes before the chain knows of it: a place under the cap, an ERC1155 id, copies of a
 * holding. Every reservation is one conditional update, so that of two that cannot both succeed one is refused at once.
 * A reservation ends when its request's call is seen on chain (the chain's own figures take over) or has failed.
 * The row of an ERC1155 id that is not on chain lives exactly as long as something of it is reserved.
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

/** Inserts the token's row, unseen until its mint is on chain. @returns false when the id exists or is about to. */
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

/** The id must be created on chain already, and its total stay within uint128. */
export async function reserveErc1155Mint(
  trx: Trx,
  collection: string,
  tokenId: string,
  quantity: string,
): Promise<"ok" | "token_not_found" | "supply_exceeded"> {
  for (;;) {
    const token = await trx
      .selectFrom("nfts")
      .select(["supply", "reserved", "minted_block"])
      .where("contract", "=", collection)
      .where("token_id", "=", tokenId)
      .executeTakeFirst();
    if (token?.minted_block == null) return "token_not_found";
    const reserved = BigInt(token.reserved) + BigInt(quantity);
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

/** Takes copies of what the wallet holds and has not promised to an earlier transfer. */
export async function reserveTransfer(
  trx: Trx,
  contract: string,
  tokenId: string,
  from: string,
  quantity: string,
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
    const reserved = BigInt(holding.reserved) + BigInt(quantity);
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

/** Gives back what a request had reserved. Called once: when its call was seen to succeed, or when it has failed. */
export async function releaseReservation(trx: Trx, command: Command, happened: boolean): Promise<void> {
  switch (command.kind) {
    case "create-collection":
    case "announce-metadata":
      return;
    case "mint-erc721":
      await trx
        .updateTable("collections")
        .set((eb) => ({ reserved: eb("reserved", "-", 1) }))
        .where("address", "=", command.collection)
        .where("reserved", ">", 0)
        .execute();
      return;
    case "create-erc1155":
    case "mint-erc1155":
      await releaseSupply(trx, command.collection, command.tokenId, command.quantity);
      if (!happened) await deleteUnreserved(trx, command.collection, command.tokenId);
      return;
    case "freeze-metadata":
      if (!happened) await stopFreezing(trx, command.collection);
      return;
    case "transfer":
      await releaseHolding(trx, command.contract, command.tokenId, command.from, command.quantity);
      return;
  }
}

/**
 * Takes a reservation again, because a reorg took the block of its call back. It was granted once, so no limit is asked:
 * the chain itself decides in the end.
 */
export async function reserveAgain(trx: Trx, { id, command }: Pick<StoredRequest, "id" | "command">): Promise<void> {
  switch (command.kind) {
    case "create-collection":
    case "announce-metadata":
      return;
    case "freeze-metadata":
      await startFreezing(trx, command.collection);
      return;
    case "mint-erc721":
      await trx
        .updateTable("collections")
        .set((eb) => ({ reserved: eb("reserved", "+", 1) }))
        .where("address", "=", command.collection)
        .execute();
      return;
    case "create-erc1155":
      // Its row is gone where the call had failed.
      if (await reserveErc1155Create(trx, { ...command, requestId: id })) return;
      await releaseSupply(trx, command.collection, command.tokenId, `-${command.quantity}`);
      return;
    case "mint-erc1155":
      await releaseSupply(trx, command.collection, command.tokenId, `-${command.quantity}`);
      return;
    case "transfer":
      await releaseHolding(trx, command.contract, command.tokenId, command.from, `-${command.quantity}`);
      return;
  }
}

async function deleteUnreserved(trx: Trx, contract: string, tokenId: string): Promise<void> {
  await trx
    .deleteFrom("nfts")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .where("minted_block", "is", null)
    .where("reserved", "=", "0")
    .execute();
}

async function releaseSupply(trx: Trx, contract: string, tokenId: string, quantity: string): Promise<void> {
  const row = () =>
    trx
      .selectFrom("nfts")
      .select(["seq", "reserved"])
      .where("contract", "=", contract)
      .where("token_id", "=", tokenId)
      .executeTakeFirst();
  await lowerReserved(trx, "nfts", row, quantity);
}

async function releaseHolding(
  trx: Trx,
  contract: string,
  tokenId: string,
  owner: string,
  quantity: string,
): Promise<void> {
  const row = () =>
    trx
      .selectFrom("holdings")
      .select(["seq", "reserved"])
      .where("contract", "=", contract)
      .where("token_id", "=", tokenId)
      .where("owner", "=", owner)
      .executeTakeFirst();
  await lowerReserved(trx, "holdings", row, quantity);
}

/**
 * Subtracts from `reserved`, down to nothing: a row that left and came back (the token moved outside the service
 * meanwhile) has no reservation to give back any more.
 */
async function lowerReserved(
  trx: Trx,
  table: "nfts" | "holdings",
  find: () => Promise<{ seq: number; reserved: string } | undefined>,
  quantity: string,
): Promise<void> {
  for (let row = await find(); row !== undefined; row = await find()) {
    const left = BigInt(row.reserved) - BigInt(quantity);
    const updated = await trx
      .updateTable(table)
      .set({ reserved: (left > 0n ? left : 0n).toString() })
      .where("seq", "=", row.seq)
      .where("reserved", "=", row.reserved)
      .executeTakeFirst();
    if (updated.numUpdatedRows === 1n) return;
  }
}
