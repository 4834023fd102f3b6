import type { Trx } from "../db/sql.ts";
import type { ChainEditRow } from "../db/schema.ts";

/** A change that an owner made to one of the service's collections, or to one of its tokens. */
export interface ChainEdit {
  contract: string;
  /** null: the collection itself. */
  tokenId: string | null;
  column: ChainEditRow["column"];
  value: string | number | null;
  blockNumber: number;
}

/** Stores the change, and the previous value for a rollback. */
export async function applyEdit(trx: Trx, change: ChainEdit): Promise<void> {
  const stored = await readColumn(trx, change);
  if (stored === undefined) return;
  const { value: previous, baseUri } = stored;
  const edit = { ...change, value: valueOf(change, baseUri) };
  if (previous === edit.value) return;
  await trx
    .insertInto("chain_edits")
    .values({
      contract: edit.contract,
      token_id: edit.tokenId,
      column: edit.column,
      previous: JSON.stringify(previous),
      block_number: edit.blockNumber,
    })
    .execute();
  await writeColumn(trx, edit, edit.value);
}

/**
 * The event `URI` also announces changed metadata behind the collection's template, and an owner can take a token's own URI away.
 * The token then has none, and follows the template.
 */
function valueOf({ column, contract, value }: ChainEdit, baseUri: string | null): ChainEdit["value"] {
  if (column !== "token_uri" || typeof value !== "string") return value;
  const isTemplate = value === baseUri || value.endsWith(`/${contract}/{id}`);
  return isTemplate ? null : value;
}

/** Restores the values from before the blocks above `fork`, newest change first. */
export async function undoEdits(trx: Trx, fork: number): Promise<void> {
  const dropped = await trx
    .deleteFrom("chain_edits")
    .where("block_number", ">", fork)
    .returning(["id", "contract", "token_id", "column", "previous"])
    .execute();
  dropped.sort((a, b) => b.id - a.id);
  for (const row of dropped) {
    const place = { contract: row.contract, tokenId: row.token_id, column: row.column };
    await writeColumn(trx, place, JSON.parse(row.previous) as ChainEdit["value"]);
  }
}

/** Deletes the previous values of blocks that are too deep for a reorg. */
export async function forgetEdits(trx: Trx, before: number): Promise<void> {
  await trx.deleteFrom("chain_edits").where("block_number", "<", before).execute();
}

type Place = Pick<ChainEdit, "contract" | "tokenId" | "column">;

/** The stored value, and the base URI of the collection. @returns undefined when the row does not exist. */
async function readColumn(
  trx: Trx,
  place: Place,
): Promise<{ value: ChainEdit["value"]; baseUri: string | null } | undefined> {
  if (place.column === "token_uri") {
    return trx
      .selectFrom("nfts")
      .innerJoin("collections", "collections.address", "nfts.contract")
      .select(["nfts.token_uri as value", "collections.base_uri as baseUri"])
      .where("nfts.contract", "=", place.contract)
      .where("nfts.token_id", "=", place.tokenId ?? "")
      .executeTakeFirst();
  }
  const { column } = place;
  const row = await trx
    .selectFrom("collections")
    .select([
      "owner",
      "service_may_mint",
      "service_is_steward",
      "max_supply",
      "base_uri",
      "collection_uri",
      "metadata_frozen",
      "royalty_frozen",
    ])
    .where("address", "=", place.contract)
    .executeTakeFirst();
  return row === undefined ? undefined : { value: row[column], baseUri: row.base_uri };
}

async function writeColumn(trx: Trx, place: Place, value: ChainEdit["value"]): Promise<void> {
  if (place.column === "token_uri") {
    await trx
      .updateTable("nfts")
      .set({ token_uri: value === null ? null : String(value) })
      .where("contract", "=", place.contract)
      .where("token_id", "=", place.tokenId ?? "")
      .execute();
    return;
  }
  await trx
    .updateTable("collections")
    .set({ [place.column]: value })
    .where("address", "=", place.contract)
    .execute();
}
