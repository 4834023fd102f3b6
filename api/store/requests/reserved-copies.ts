import type { Trx } from "../db/engine.ts";

/** A row that counts reserved copies: an ERC1155 id (minted copies to come), or a holding (copies about to leave). */
export type CopiesPlace =
  | { table: "nfts"; contract: string; tokenId: string }
  | { table: "holdings"; contract: string; tokenId: string; owner: string };

/** Reserves copies. No limit is checked: it is for a reservation that was granted once already. */
export function reserve(trx: Trx, place: CopiesPlace, quantity: bigint): Promise<void> {
  return change(trx, place, (reserved) => reserved + quantity);
}

/**
 * Releases copies, but never goes below zero: a row that was deleted and inserted again (the token moved outside the service
 * in between) has lost its reservations.
 */
export function release(trx: Trx, place: CopiesPlace, quantity: bigint): Promise<void> {
  return change(trx, place, (reserved) => (reserved > quantity ? reserved - quantity : 0n));
}

/** Decimal text cannot be added up in SQL, so this reads, computes, and writes if nobody else wrote in between. */
async function change(trx: Trx, place: CopiesPlace, compute: (reserved: bigint) => bigint): Promise<void> {
  for (let row = await find(trx, place); row !== undefined; row = await find(trx, place)) {
    const updated = await trx
      .updateTable(place.table)
      .set({ reserved: compute(BigInt(row.reserved)).toString() })
      .where("seq", "=", row.seq)
      .where("reserved", "=", row.reserved)
      .executeTakeFirst();
    if (updated.numUpdatedRows === 1n) return;
  }
}

function find(trx: Trx, place: CopiesPlace): Promise<{ seq: number; reserved: string } | undefined> {
  if (place.table === "nfts") {
    return trx
      .selectFrom("nfts")
      .select(["seq", "reserved"])
      .where("contract", "=", place.contract)
      .where("token_id", "=", place.tokenId)
      .executeTakeFirst();
  }
  return trx
    .selectFrom("holdings")
    .select(["seq", "reserved"])
    .where("contract", "=", place.contract)
    .where("token_id", "=", place.tokenId)
    .where("owner", "=", place.owner)
    .executeTakeFirst();
}
