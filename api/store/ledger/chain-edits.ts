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
  const edit = { ...change, value: await valueOf(trx, change) };
  const previous = await readColumn(trx, edit);
  if (previous === undefined || previous === edit.value) return;
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
async function valueOf(trx: Trx, { column, contract, value }: ChainEdit): Promise<ChainEdit["value"]> {
  if (column !== "token_uri" || typeof value !== "string") return value;
  const hostedTemplate = value.endsWith(`/${contract}/{id}`);
  return hostedTemplate || value === (await readColumn(trx, { column: "base_uri", contract, tokenId: null }))
    ? null
    : value;
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

/** @returns undefined when the row does not exist. */
async function readColumn(trx: Trx, place: Place): Promise<ChainEdit["value"] | undefined> {
  if (place.column === "token_uri") {
    const token = await trx
      .selectFrom("nfts")
      .select("token_uri")
      .where("contract", "=", place.contract)
      .where("token_id", "=", place.tokenId ?? "")
      .executeTakeFirst();
    return token?.token_uri;
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
  return row?.[column];
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
