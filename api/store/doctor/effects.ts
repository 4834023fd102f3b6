import { sql } from "kysely";

import type { Db } from "../db/engine.ts";
import { type StoredRequest, toRequest } from "../requests/stored-request.ts";

/** A completed request whose effect is missing. */
export interface LostEffect {
  id: string;
  words: string;
}

const PAGE = 500;

/** Ids of requests whose final outcome was corrected since then. */
export async function correctedSince(db: Db, since: number): Promise<string[]> {
  const rows = await db
    .selectFrom("events")
    .select("request_id")
    .distinct()
    .where("type", "=", sql.lit("corrected"))
    .where("created_at", ">=", since)
    .execute();
  return rows.flatMap((row) => row.request_id ?? []);
}

/**
 * Completed requests whose effect is missing, page by page, oldest first. The cause is a reorg deeper than CONFIRMATIONS.
 * Transfers of foreign contracts are left out, because those contracts need not log them.
 */
export async function* lostEffects(db: Db): AsyncGenerator<LostEffect[]> {
  let after = 0;
  for (;;) {
    const page = await db
      .selectFrom("requests")
      .selectAll()
      .where("seq", ">", after)
      .where("status", "=", "completed")
      .orderBy("seq")
      .limit(PAGE)
      .execute();
    const last = page.at(-1);
    if (last === undefined) return;
    const lost = await lostAmong(db, page.map(toRequest));
    if (lost.length > 0) yield lost;
    after = last.seq;
  }
}

async function lostAmong(db: Db, page: StoredRequest[]): Promise<LostEffect[]> {
  const moved = await movedBy(db, page);
  const lost: LostEffect[] = [];
  for (const row of page) {
    const words = await lossOf(db, row, moved);
    if (words !== null) lost.push({ id: row.id, words });
  }
  return lost;
}

async function lossOf(db: Db, row: StoredRequest, moved: Set<string>): Promise<string | null> {
  const { command } = row;
  switch (command.kind) {
    case "create-collection": {
      const made = await db.selectFrom("collections").select("seq").where("request_id", "=", row.id).executeTakeFirst();
      return made === undefined ? `its collection ${row.nft_collection ?? "?"} does not exist` : null;
    }
    case "mint-erc721":
    case "create-erc1155": {
      const token = await tokenMadeBy(db, row);
      if (token !== undefined) return null;
      return `token ${row.nft_token_id ?? "?"} of ${command.collection} does not exist, or another request made it`;
    }
    case "mint-erc1155":
      return (await isMoved(db, row, command.collection, command.tokenId, moved))
        ? null
        : `its copies of token ${command.tokenId} of ${command.collection} were never minted`;
    case "transfer":
      if (command.foreign) return null;
      return (await isMoved(db, row, command.contract, command.tokenId, moved))
        ? null
        : `token ${command.tokenId} of ${command.contract} was never moved by it`;
    default:
      return null;
  }
}

function tokenMadeBy(db: Db, row: StoredRequest) {
  return db
    .selectFrom("nfts")
    .select("seq")
    .where("contract", "=", row.nft_collection ?? "")
    .where("token_id", "=", row.nft_token_id ?? "")
    .where("request_id", "=", row.id)
    .where("minted_block", "is not", null)
    .executeTakeFirst();
}

/** Ids of the page's requests whose transfer is in the block that their row names. One query for the whole page. */
async function movedBy(db: Db, page: StoredRequest[]): Promise<Set<string>> {
  const blocks = page.flatMap((row) => (row.block_number === null ? [] : [row.block_number]));
  if (blocks.length === 0) return new Set();
  const moves = await db
    .selectFrom("transfers")
    .select("request_id")
    .where("block_number", "in", [...new Set(blocks)])
    .where("request_id", "is not", null)
    .execute();
  return new Set(moves.flatMap((move) => move.request_id ?? []));
}

async function isMoved(
  db: Db,
  row: StoredRequest,
  contract: string,
  tokenId: string,
  moved: Set<string>,
): Promise<boolean> {
  if (moved.has(row.id)) return true;
  // A reorg may have put it into another block.
  const move = await db
    .selectFrom("transfers")
    .select("id")
    .where("contract", "=", contract)
    .where("token_id", "=", tokenId)
    .where("request_id", "=", row.id)
    .limit(1)
    .executeTakeFirst();
  return move !== undefined;
}
