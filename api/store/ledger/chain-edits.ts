import { sql } from "kysely";

import { type TokenKey, tokenKey } from "../../domain/token.ts";
import type { ChainEditRow } from "../db/schema.ts";
import { forUpdate, inParts, rowSet, type SetColumns, type SetValue, textSet, type Trx } from "../db/sql.ts";

/** A change that an owner made to one of the service's collections, or to one of its tokens. */
export interface ChainEdit {
  contract: string;
  /** null: the collection itself. */
  tokenId: string | null;
  column: ChainEditRow["column"];
  value: SetValue;
  blockNumber: number;
}

type Place = Pick<ChainEdit, "contract" | "tokenId" | "column">;

/** What the edits of one column in one block come to. */
interface FoldedEdit extends ChainEdit {
  /** The value before the block. */
  previous: SetValue;
}

/** The columns of a collection that its owner changes. */
const COLLECTION = {
  owner: "text",
  service_may_mint: "integer",
  service_is_steward: "integer",
  max_supply: "integer",
  base_uri: "text",
  collection_uri: "text",
  metadata_frozen: "integer",
  royalty_frozen: "integer",
} as const satisfies SetColumns<Exclude<ChainEdit["column"], "token_uri">>;
const NAMES = Object.keys(COLLECTION) as (keyof typeof COLLECTION)[];

/**
 * Stores the changes, and for a rollback the value that each column had before the first change of a block. An owner can
 * change a column thousands of times in a block, so only what a block leaves behind is stored.
 * @param edits in the order of the chain.
 */
export async function applyEdits(trx: Trx, edits: readonly ChainEdit[]): Promise<void> {
  if (edits.length === 0) return;
  const values = await readValues(trx, edits);
  const folded = new Map<string, FoldedEdit>();
  for (const edit of edits) {
    const place = placeKey(edit);
    const previous = values.get(place);
    if (previous === undefined) continue;
    const value = valueOf(edit, values);
    values.set(place, value);
    const key = `${edit.blockNumber.toString()}/${place}`;
    const first = folded.get(key);
    folded.set(key, first === undefined ? { ...edit, value, previous } : { ...first, value });
  }
  const changed = [...folded.values()].filter(({ previous, value }) => previous !== value);
  await remember(trx, changed);
  await writeValues(trx, changed, values);
}

/**
 * The event `URI` also announces changed metadata behind the collection's template, and an owner can take a token's own URI away.
 * The token then has none, and follows the template.
 */
function valueOf({ column, contract, value }: ChainEdit, values: Values): SetValue {
  if (column !== "token_uri" || typeof value !== "string") return value;
  const baseUri = values.get(placeKey({ contract, tokenId: null, column: "base_uri" }));
  return value === baseUri || value.endsWith(`/${contract}/{id}`) ? null : value;
}

async function remember(trx: Trx, changed: readonly FoldedEdit[]): Promise<void> {
  const columns = {
    contract: "text",
    token_id: "text",
    name: "text",
    previous: "text",
    block_number: "integer",
  } as const;
  const rows = changed.map(({ contract, tokenId, column, previous, blockNumber }) => {
    return { contract, token_id: tokenId, name: column, previous: JSON.stringify(previous), block_number: blockNumber };
  });
  for (const part of inParts(rows)) {
    await sql`
      insert into chain_edits (contract, token_id, "column", previous, block_number)
      select contract, token_id, name, previous, block_number from ${rowSet(trx, columns, part)} as input
       order by ord`.execute(trx);
  }
}

/** Restores the values from before the blocks above `fork`. */
export async function undoEdits(trx: Trx, fork: number): Promise<void> {
  const dropped = await trx
    .deleteFrom("chain_edits")
    .where("block_number", ">", fork)
    .returning(["id", "contract", "token_id as tokenId", "column", "previous"])
    .execute();
  if (dropped.length === 0) return;
  // Newest first: the value from before the first dropped change remains.
  dropped.sort((a, b) => b.id - a.id);
  const values = await readValues(trx, dropped);
  for (const row of dropped) values.set(placeKey(row), JSON.parse(row.previous) as SetValue);
  await writeValues(trx, dropped, values);
}

/** Deletes the previous values of blocks that are too deep for a reorg. */
export async function forgetEdits(trx: Trx, before: number): Promise<void> {
  await trx.deleteFrom("chain_edits").where("block_number", "<", before).execute();
}

type Values = Map<string, SetValue>;

function placeKey({ contract, tokenId, column }: Place): string {
  return `${column}/${contract}/${tokenId ?? ""}`;
}

/** The stored values of the collections and tokens that are named. A row that does not exist has none. */
async function readValues(trx: Trx, places: readonly Place[]): Promise<Values> {
  const values: Values = new Map();
  const contracts = new Set(places.map(({ contract }) => contract));
  const { rows: collections } = await sql<{ address: string } & Record<keyof typeof COLLECTION, SetValue>>`
    select address, ${sql.join(NAMES.map((name) => sql.ref(name)))} from collections
     where address in ${textSet(trx, contracts)} order by address ${forUpdate(trx)}`.execute(trx);
  for (const row of collections)
    for (const column of NAMES) values.set(placeKey({ contract: row.address, tokenId: null, column }), row[column]);
  const tokens = tokensAmong(places).map(({ contract, tokenId }) => ({ contract, token_id: tokenId }));
  if (tokens.length === 0) return values;
  const { rows } = await sql<{ contract: string; tokenId: string; uri: string | null }>`
    select nfts.contract, nfts.token_id as "tokenId", nfts.token_uri as uri
      from nfts join ${rowSet(trx, { contract: "text", token_id: "text" }, tokens)} as input
        on nfts.contract = input.contract and nfts.token_id = input.token_id`.execute(trx);
  for (const { uri, ...token } of rows) values.set(placeKey({ ...token, column: "token_uri" }), uri);
  return values;
}

/** @param changed where the values differ from the stored ones. */
async function writeValues(trx: Trx, changed: readonly Place[], values: Values): Promise<void> {
  const valueAt = (place: Place) => values.get(placeKey(place)) ?? null;
  const contracts = new Set(changed.flatMap(({ contract, tokenId }) => (tokenId === null ? [contract] : [])));
  const collections = Array.from(contracts, (contract) => {
    const row: Record<string, SetValue> = { address: contract };
    for (const column of NAMES) row[column] = valueAt({ contract, tokenId: null, column });
    return row;
  });
  const set = sql.join(NAMES.map((name) => sql`${sql.ref(name)} = ${sql.ref(`input.${name}`)}`));
  for (const part of inParts(collections)) {
    await sql`
      update collections set ${set} from ${rowSet<string>(trx, { address: "text", ...COLLECTION }, part)} as input
       where collections.address = input.address`.execute(trx);
  }
  const tokens = tokensAmong(changed).map((token) => {
    return { contract: token.contract, token_id: token.tokenId, uri: valueAt({ ...token, column: "token_uri" }) };
  });
  for (const part of inParts(tokens)) {
    await sql`
      update nfts set token_uri = input.uri
        from ${rowSet(trx, { contract: "text", token_id: "text", uri: "text" }, part)} as input
       where nfts.contract = input.contract and nfts.token_id = input.token_id`.execute(trx);
  }
}

/** Each token once. */
function tokensAmong(places: readonly Place[]): TokenKey[] {
  const tokens = places.flatMap(({ contract, tokenId }) => (tokenId === null ? [] : [{ contract, tokenId }]));
  return [...new Map(tokens.map((token) => [tokenKey(token), token])).values()];
}
