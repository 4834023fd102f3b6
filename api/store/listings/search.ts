import { createHash } from "node:crypto";

import { sql } from "kysely";

import type { TokenMetadata } from "../../domain/command.ts";
import { MAX_INDEXED_TRAITS, MAX_SEARCH_LENGTH, MAX_TRAIT_LENGTH } from "../../domain/filters.ts";
import { isRawNumber } from "../../../client/rules/exact-json.ts";
import { isStorable } from "../../../client/rules/storable.ts";
import { rowSet, type Trx } from "../db/sql.ts";
import { toTokenMetadata } from "./nfts.ts";

/*
 * What a token can be found by: the beginning of its name, and its traits. These are the first attributes that have a
 * `trait_type` and a plain `value`. Apps may store any JSON there, in any amount, so everything else is passed over.
 */

/** UTF-16 units of a name that are read: enough for a search, even if each character takes two units or a `{token_id}`. */
const READ = 20 * MAX_SEARCH_LENGTH;

/**
 * How the name of a token begins, as its page shows it: by this it is found. It is stored with the metadata, by each statement
 * that stores these. Metadata of 0.2.0 may have anything as a name. null: there is nothing to search.
 */
export function searchName(metadata: TokenMetadata | null, tokenId: string): string | null {
  const name: unknown = metadata?.name;
  if (typeof name !== "string") return null;
  const shown = name.slice(0, READ).replaceAll("{token_id}", tokenId);
  const beginning = Array.from(shown.slice(0, 2 * MAX_SEARCH_LENGTH))
    .slice(0, MAX_SEARCH_LENGTH)
    .join("");
  return beginning !== "" && isStorable(beginning) ? beginning : null;
}

/** Hex digits of a key. An app that constructs two traits with the same key only mixes up tokens of its own collection. */
const KEY_LENGTH = 32;

/** Names a trait in a collection, whatever the length of its texts is. */
export function traitKey(contract: string, type: string, value: string): string {
  const text = JSON.stringify([contract, type, value]);
  return createHash("sha256").update(text).digest("hex").slice(0, KEY_LENGTH);
}

/** The keys of a token's traits, each once. */
export function traitKeys(contract: string, metadata: TokenMetadata | null): string[] {
  const keys = new Set<string>();
  // Metadata of 0.2.0 may have anything here.
  const attributes: unknown = metadata?.attributes;
  if (!Array.isArray(attributes)) return [];
  for (const attribute of attributes as unknown[]) {
    if (typeof attribute !== "object" || attribute === null || !("trait_type" in attribute)) continue;
    const type = attribute.trait_type;
    const value = "value" in attribute ? textOf(attribute.value) : null;
    if (typeof type !== "string" || value === null || !isShort(type) || !isShort(value)) continue;
    keys.add(traitKey(contract, type, value));
    if (keys.size === MAX_INDEXED_TRAITS) break;
  }
  return [...keys];
}

/** A number and a text that look the same are the same. */
function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

function isShort(text: string): boolean {
  return text !== "" && text.length <= 2 * MAX_TRAIT_LENGTH && Array.from(text).length <= MAX_TRAIT_LENGTH;
}

/** Largest metadata whose traits are stored, in bytes. Only 0.2.0 accepted larger ones. */
const LARGEST = 262_144;
/** Tokens whose metadata are in memory at the same time. */
const AT_ONCE = 100;

/**
 * Stores the traits of tokens as their rows say now. A token that is not on chain, or burnt, has none: so a page of tokens
 * with a trait never passes over many that it does not show. Call it after each change of `metadata`, and when a token appears
 * or disappears. The caller has locked the tokens.
 */
export async function storeTraits(trx: Trx, seqs: readonly number[]): Promise<void> {
  for (let start = 0; start < seqs.length; start += AT_ONCE) {
    await storePart(
      trx,
      seqs.slice(start, start + AT_ONCE).map((seq) => ({ seq })),
    );
  }
}

async function storePart(trx: Trx, tokens: readonly { seq: number }[]): Promise<void> {
  const input = () => rowSet(trx, { seq: "integer" }, tokens);
  await sql`delete from token_traits where token_seq in (select seq from ${input()} as input)`.execute(trx);
  const { rows } = await sql<{ seq: number; contract: string; metadata: string }>`
    select nfts.seq, nfts.contract, nfts.metadata from ${input()} as input join nfts on nfts.seq = input.seq
     where nfts.minted_block is not null and nfts.supply <> '0' and octet_length(nfts.metadata) <= ${sql.lit(LARGEST)}`.execute(
    trx,
  );
  const traits = rows.flatMap(({ seq, contract, metadata }) =>
    traitKeys(contract, readable(metadata)).map((trait) => ({ trait, token_seq: seq })),
  );
  await insertTraits(trx, traits);
}

/** Metadata of a damaged row have no traits: they must not stop the blocks that burn or move its token. */
function readable(metadata: string): TokenMetadata | null {
  try {
    return toTokenMetadata(metadata);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** For tokens that have no traits yet. */
export async function insertTraits(trx: Trx, traits: readonly { trait: string; token_seq: number }[]): Promise<void> {
  if (traits.length === 0) return;
  await sql`
    insert into token_traits (trait, token_seq)
    select trait, token_seq from ${rowSet(trx, { trait: "text", token_seq: "integer" }, traits)} as input order by ord`.execute(
    trx,
  );
}
