import { sql } from "kysely";

import { CounterDeltas } from "../db/counters.ts";
import type { Db, Trx } from "../db/sql.ts";
import { setHoldings } from "../ledger/holding-set.ts";
import type { HoldingRow, NftRow } from "../db/schema.ts";
import { parkedOf, unparkRows } from "../db/parked-rows.ts";
import { type Difference, pairs } from "./difference.ts";

const PAGE = 1_000;

/** Compares the tokens of a collection with the chain, and repairs them. */
export async function compareTokens(trx: Trx, chain: Db, contract: string, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  // Requests whose tokens were stored without their metadata.
  const withoutMetadata = new Set((await parkedOf(trx, "metadata")).map(({ id }) => id));
  for await (const [stored, real] of pairs(tokens(trx, contract), tokens(chain, contract), (row) => [row.token_id])) {
    const where = `token ${(real ?? stored)?.token_id ?? ""} of ${contract}`;
    if (real === undefined) {
      // A reserved id is not minted yet.
      if (stored?.minted_block == null) continue;
      differences.push({ what: where, stored: `${stored.supply} copies`, chain: "none" });
      if (repair) await removeToken(trx, stored);
    } else if (stored === undefined) {
      differences.push({ what: where, stored: "none", chain: `${real.supply} copies` });
      if (repair) await trx.insertInto("nfts").values(withoutSeq(real)).execute();
    } else {
      const wrong: (keyof NftRow)[] = COMPARED.filter((column) => stored[column] !== real[column]);
      // The token was stored without it. Metadata that was changed since stays.
      const lacks = stored.request_id !== null && withoutMetadata.has(stored.request_id);
      if (lacks && stored.metadata === null && real.metadata !== null) wrong.push("metadata");
      if (wrong.length === 0) continue;
      differences.push({ what: where, stored: words(stored, wrong), chain: words(real, wrong) });
      if (!repair) continue;
      await repairToken(trx, stored, real, wrong.includes("metadata"));
      if (lacks && stored.request_id !== null) await unparkRows(trx, "metadata", [{ id: stored.request_id }]);
    }
  }
  return differences;
}

const COMPARED = ["supply", "minted_block", "minted_at", "request_id", "token_uri"] as const;

function tokens(db: Db, contract: string) {
  return async (after: NftRow | null): Promise<NftRow[]> => {
    let query = db.selectFrom("nfts").selectAll().where("contract", "=", contract);
    if (after !== null) query = query.where("token_id", ">", after.token_id);
    return query.orderBy("token_id").limit(PAGE).execute();
  };
}

function withoutSeq<T extends { seq: number }>({ seq: _seq, ...row }: T): Omit<T, "seq"> {
  return row;
}

async function removeToken(trx: Trx, row: NftRow): Promise<void> {
  if (row.reserved === "0") await trx.deleteFrom("nfts").where("seq", "=", row.seq).execute();
  else {
    await trx
      .updateTable("nfts")
      .set({ supply: "0", minted_block: null, minted_at: null })
      .where("seq", "=", row.seq)
      .execute();
  }
}

/** Metadata belongs to the request. While the token belongs to the same request its metadata stays, edited or not. */
async function repairToken(trx: Trx, stored: NftRow, real: NftRow, lacksMetadata: boolean): Promise<void> {
  const { supply, minted_block, minted_at, request_id, token_uri, metadata } = real;
  await trx
    .updateTable("nfts")
    .set({
      ...{ supply, minted_block, minted_at, request_id, token_uri },
      ...(stored.request_id === request_id && !lacksMetadata ? {} : { metadata }),
    })
    .where("seq", "=", stored.seq)
    .execute();
}

function words(row: NftRow, columns: readonly (keyof NftRow)[]): string {
  return columns.map((column) => `${column} ${JSON.stringify(row[column])}`).join(", ");
}

/** Compares the holdings of a collection with the chain, and repairs them. `compareCounters` repairs the totals afterwards. */
export async function compareHoldings(trx: Trx, chain: Db, contract: string, repair: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  const key = (row: HoldingRow) => [row.token_id, row.owner];
  for await (const [stored, real] of pairs(holdings(trx, contract), holdings(chain, contract), key)) {
    const row = real ?? stored;
    if (row === undefined || stored?.quantity === real?.quantity) continue;
    const [has, should] = [stored?.quantity ?? "0", real?.quantity ?? "0"];
    differences.push({
      what: `copies of token ${row.token_id} of ${contract} that ${row.owner} holds`,
      stored: has,
      chain: should,
    });
    if (!repair) continue;
    const holding = { contract, tokenId: row.token_id, owner: row.owner };
    const right = { ...holding, quantity: BigInt(should), sinceBlock: row.since_block };
    await setHoldings(trx, [right], new CounterDeltas());
  }
  return differences;
}

function holdings(db: Db, contract: string) {
  return async (after: HoldingRow | null): Promise<HoldingRow[]> => {
    let query = db.selectFrom("holdings").selectAll().where("contract", "=", contract);
    if (after !== null) {
      query = query.where(sql<boolean>`(token_id, owner) > (${after.token_id}, ${after.owner})`);
    }
    return query.orderBy("token_id").orderBy("owner").limit(PAGE).execute();
  };
}
