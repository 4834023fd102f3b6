import { sql } from "kysely";

import type { CollectionType, TokenMetadata } from "../../domain/command.ts";
import type { RescueReport } from "../../domain/rescue-report.ts";
import { type Db, lockCollections, rowSet, textSet, type Trx } from "../db/sql.ts";
import { searchName, storeTraits } from "../listings/search.ts";

/*
 * Metadata of adopted collections that were copied from where their contract says that they are. They belong to no request, and
 * are served as they came, but for the URIs of media that were copied too.
 */

export interface StoredToken {
  seq: number;
  token_id: string;
  /** JSON; null: not copied. */
  metadata: string | null;
}

/** The metadata of a token, as JSON and parsed. */
export type RescuedMetadata = Omit<StoredToken, "metadata"> & { json: string; metadata: TokenMetadata };

/** The next tokens of a collection that are on chain and not burnt, in the order of `seq`. */
export function tokensAfter(db: Db, contract: string, after: number, limit: number): Promise<StoredToken[]> {
  return onChain(db, contract).where("seq", ">", after).orderBy("seq").limit(limit).execute();
}

/** Those with these ids. */
export function tokensNamed(db: Db, contract: string, ids: Iterable<string>): Promise<StoredToken[]> {
  const named = sql<boolean>`token_id in ${textSet(db, ids)}`;
  return onChain(db, contract).where(named).execute();
}

function onChain(db: Db, contract: string) {
  const query = db.selectFrom("nfts").select(["seq", "token_id", "metadata"]).where("contract", "=", contract);
  // A literal, not a parameter, so that the partial index is used.
  return query.where("minted_block", "is not", null).where("supply", "<>", sql.lit("0"));
}

const COLUMNS = { seq: "integer", contract: "text", token_id: "text", metadata: "text", search_name: "text" } as const;

/** A token that a reorg has removed since it was read is passed over. */
export async function storeRescued(trx: Trx, contract: string, tokens: readonly RescuedMetadata[]): Promise<void> {
  if (tokens.length === 0) return;
  await lockCollections(trx, [contract]);
  const rows = tokens.map(({ seq, token_id, json, metadata }) => ({
    ...{ seq, contract, token_id, metadata: json, search_name: searchName(metadata, token_id) },
  }));
  await sql`
    update nfts set metadata = input.metadata, search_name = input.search_name
      from ${rowSet(trx, COLUMNS, rows)} as input
     where nfts.seq = input.seq and nfts.contract = input.contract and nfts.token_id = input.token_id`.execute(trx);
  const seqs = rows.map(({ seq }) => seq);
  await storeTraits(trx, seqs);
}

/** @param json the metadata of the collection itself (ERC-7572). */
export async function storeRescuedCollection(trx: Trx, address: string, json: string): Promise<void> {
  const update = trx.updateTable("collections").set({ metadata: json });
  await update.where("address", "=", address).where("adopted", "=", 1).execute();
}

export async function storeRescueReport(trx: Trx, address: string, report: RescueReport): Promise<void> {
  const update = trx.updateTable("collections").set({ rescue: JSON.stringify(report) });
  await update.where("address", "=", address).where("adopted", "=", 1).execute();
}

/** Adopted collections, in the order of their addresses. */
export function adoptedCollections(
  db: Db,
  limit: number,
): Promise<{ address: string; name: string; type: CollectionType }[]> {
  const query = db.selectFrom("collections").select(["address", "name", "type"]);
  // A literal, so that the partial index is used.
  return query.where("adopted", "=", sql.lit(1)).orderBy("address").limit(limit).execute();
}
