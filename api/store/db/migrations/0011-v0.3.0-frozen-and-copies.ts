import { type Kysely, sql } from "kysely";

import { schemaKit } from "./kit.ts";

/** Tokens that one statement reads. */
const PAGE = 10_000;
/** Collections that one statement changes. */
const STORED = 500;

/**
 * Whether the royalty of a collection is frozen: null while nobody knows, as of collections that exist. And how many copies an
 * ERC1155 collection has: amounts have up to 128 bits, so they are added up here and not by the database.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  await db.schema.alterTable("collections").addColumn("royalty_frozen", "integer").execute();
  await db.schema.alterTable("collections").addColumn("copies", TEXT).execute();
  await sql`update collections set copies = '0' where type = 'ERC1155'`.execute(db);
  const copies = new Map<string, bigint>();
  for (let after = 0; ;) {
    const { rows } = await sql<{ seq: number; contract: string; supply: string }>`
      select nfts.seq, nfts.contract, nfts.supply from nfts join collections on collections.address = nfts.contract
       where collections.type = 'ERC1155' and nfts.minted_block is not null and nfts.seq > ${after}
       order by nfts.seq limit ${PAGE}`.execute(db);
    for (const { contract, supply } of rows) copies.set(contract, (copies.get(contract) ?? 0n) + BigInt(supply));
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const sums = [...copies].map(([address, sum]) => sql`(${address}, ${sum.toString()})`);
  for (let start = 0; start < sums.length; start += STORED) {
    await sql`
      update collections set copies = input.column2
        from (values ${sql.join(sums.slice(start, start + STORED))}) as input
       where collections.address = input.column1`.execute(db);
  }
}
