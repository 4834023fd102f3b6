import { type Kysely, sql } from "kysely";

/** 0.3.0 could not follow a chain whose genesis block has the contracts: it began after block -1. Block 0 has no events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`update meta set value = '0' where key in ('checkpoint', 'confirmed_block') and value = '-1'`.execute(db);
}
