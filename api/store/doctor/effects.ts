import { sql } from "kysely";

import { isAdoptedMint, isDelegated, isMint, isOfWallet } from "../../domain/command.ts";
import { pagesAfter } from "../db/pages.ts";
import { type Db, integerSet, rowSet } from "../db/sql.ts";
import { type StoredRequest, toRequest } from "../requests/requests.ts";

/** A completed request whose effect is missing. */
interface LostEffect {
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
 * Transfers and burns through a wallet's delegate are left out, because those contracts need not log them.
 */
export async function* lostEffects(db: Db): AsyncGenerator<LostEffect[]> {
  const read = (after: number) =>
    db
      .selectFrom("requests")
      .selectAll()
      .where("seq", ">", after)
      .where("status", "=", "completed")
      .orderBy("seq")
      .limit(PAGE)
      .execute();
  for await (const page of pagesAfter(0, read, ({ seq }) => seq)) {
    const lost = await lostAmong(db, page.map(toRequest));
    if (lost.length > 0) yield lost;
  }
}

async function lostAmong(db: Db, page: StoredRequest[]): Promise<LostEffect[]> {
  const found = new Set([
    ...(await collectionsMade(db, page)),
    ...(await tokensMade(db, page)),
    ...(await movedBy(db, page)),
  ]);
  return page.flatMap((row) => {
    const words = found.has(row.id) ? null : lossOf(row);
    return words === null ? [] : [{ id: row.id, words }];
  });
}

/** What is missing, when the effect of the request was not found. */
function lossOf({ command, nft_collection, nft_token_id }: StoredRequest): string | null {
  // What an adopted contract did is not known then.
  if (isAdoptedMint(command) && nft_token_id === null) return null;
  switch (command.kind) {
    case "create-collection":
      return `its collection ${nft_collection ?? "?"} does not exist`;
    case "mint-erc721":
    case "create-erc1155":
      return `token ${nft_token_id ?? "?"} of ${command.collection} does not exist, or another request made it`;
    case "mint-erc1155":
      return `its copies of token ${command.tokenId} of ${command.collection} were never minted`;
    case "transfer":
    case "burn":
      return isDelegated(command)
        ? null
        : `token ${command.tokenId} of ${command.contract} was never ${command.kind === "burn" ? "burnt" : "moved"} by it`;
    default:
      return null;
  }
}

/** Ids of the requests whose collection exists. */
async function collectionsMade(db: Db, page: StoredRequest[]): Promise<string[]> {
  const rows = page.flatMap(({ id, command, nft_collection: address }) =>
    command.kind === "create-collection" ? [{ id, address }] : [],
  );
  if (rows.length === 0) return [];
  const { rows: made } = await sql<{ id: string }>`
    select input.id as id from ${rowSet(db, { id: "text", address: "text" }, rows)} as input
      join collections on collections.address = input.address and collections.request_id = input.id`.execute(db);
  return made.map(({ id }) => id);
}

const TOKEN = { id: "text", contract: "text", token_id: "text" } as const;

/** Ids of the requests whose token is on chain and was made by them. */
async function tokensMade(db: Db, page: StoredRequest[]): Promise<string[]> {
  const rows = page.flatMap(({ id, command, nft_collection: contract, nft_token_id: token_id }) =>
    command.kind === "mint-erc721" || (command.kind === "create-erc1155" && !isAdoptedMint(command))
      ? [{ id, contract, token_id }]
      : [],
  );
  if (rows.length === 0) return [];
  const { rows: made } = await sql<{ id: string }>`
    select input.id as id from ${rowSet(db, TOKEN, rows)} as input
      join nfts on nfts.contract = input.contract and nfts.token_id = input.token_id and nfts.request_id = input.id
     where nfts.minted_block is not null`.execute(db);
  return made.map(({ id }) => id);
}

/** Ids of the requests that moved copies. */
async function movedBy(db: Db, page: StoredRequest[]): Promise<string[]> {
  const rows = page.flatMap(({ id, command, block_number, nft_token_id }) => {
    if (
      isMint(command) &&
      command.kind !== "mint-erc721" &&
      (isAdoptedMint(command) || command.kind === "mint-erc1155")
    )
      return [{ id, contract: command.collection, token_id: nft_token_id ?? command.tokenId, block_number }];
    if (!isOfWallet(command) || isDelegated(command)) return [];
    return [{ id, contract: command.contract, token_id: command.tokenId, block_number }];
  });
  const inTheirBlocks = await movedInBlocks(db, rows);
  const others = rows.filter(({ id }) => !inTheirBlocks.has(id));
  return [...inTheirBlocks, ...(await movedEver(db, others))];
}

/** Those whose movement is in the block that the row of the request names. */
async function movedInBlocks(
  db: Db,
  rows: readonly { id: string; block_number: number | null }[],
): Promise<Set<string>> {
  const blocks = new Set(rows.flatMap(({ block_number }) => block_number ?? []));
  if (blocks.size === 0) return new Set();
  const { rows: moves } = await sql<{ request_id: string }>`
    select request_id from transfers
     where block_number in ${integerSet(db, blocks)} and request_id is not null`.execute(db);
  const ids = new Set(moves.map(({ request_id }) => request_id));
  return new Set(rows.flatMap(({ id }) => (ids.has(id) ? [id] : [])));
}

/** The same in any block: a reorg may have put the movement into another one. */
async function movedEver(
  db: Db,
  rows: readonly { id: string; contract: string; token_id: string }[],
): Promise<string[]> {
  if (rows.length === 0) return [];
  const { rows: moved } = await sql<{ id: string }>`
    select input.id as id from ${rowSet(db, TOKEN, rows)} as input
     where exists (select 1 from transfers
                    where transfers.contract = input.contract and transfers.token_id = input.token_id
                      and transfers.request_id = input.id)`.execute(db);
  return moved.map(({ id }) => id);
}
