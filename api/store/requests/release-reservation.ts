import type { Command } from "../../domain/command.ts";
import type { Trx } from "../db/engine.ts";
import { startFreezing, stopFreezing } from "./freezing.ts";
import { reserveErc1155Create } from "./reservations.ts";
import { type CopiesPlace, release, reserve } from "./reserved-copies.ts";
import type { StoredRequest } from "./stored-request.ts";

/**
 * Ends a request's reservation. Called once: when its call was seen on chain, or when it has failed.
 * @param happened whether the call succeeded: then the chain's own figures take over.
 */
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
      await release(trx, supplyOf(command), BigInt(command.quantity));
      if (!happened) await deleteUnreserved(trx, command.collection, command.tokenId);
      return;
    case "freeze-metadata":
      if (!happened) await stopFreezing(trx, command.collection);
      return;
    case "transfer":
      await release(trx, holdingOf(command), BigInt(command.quantity));
      return;
  }
}

/**
 * Takes a reservation again after a reorg dropped the block of its call. No limit is checked: the reservation was granted
 * once, and in the end the chain decides.
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
      // The token's row was deleted if the call had failed.
      if (await reserveErc1155Create(trx, { ...command, requestId: id })) return;
      await reserve(trx, supplyOf(command), BigInt(command.quantity));
      return;
    case "mint-erc1155":
      await reserve(trx, supplyOf(command), BigInt(command.quantity));
      return;
    case "transfer":
      await reserve(trx, holdingOf(command), BigInt(command.quantity));
      return;
  }
}

function supplyOf({ collection, tokenId }: { collection: string; tokenId: string }): CopiesPlace {
  return { table: "nfts", contract: collection, tokenId };
}

function holdingOf({ contract, tokenId, from }: { contract: string; tokenId: string; from: string }): CopiesPlace {
  return { table: "holdings", contract, tokenId, owner: from };
}

/** The row of an id that is not on chain exists only as long as something of it is reserved. */
async function deleteUnreserved(trx: Trx, contract: string, tokenId: string): Promise<void> {
  await trx
    .deleteFrom("nfts")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .where("minted_block", "is", null)
    .where("reserved", "=", "0")
    .execute();
}
