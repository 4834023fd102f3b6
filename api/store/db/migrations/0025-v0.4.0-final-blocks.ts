import { type Kysely, sql } from "kysely";

import { INT } from "./kit.ts";

/**
 * The block of the last change of a quantity tells whether it is final. For rows that exist it is needed only where a block that
 * is not final has changed them: the checkpoint is no earlier than that block.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ["nfts", "holdings"]) {
    await db.schema.alterTable(table).addColumn("changed_block", INT).execute();
    await sql`
      update ${sql.table(table)} set changed_block = (select cast(value as bigint) from meta where key = 'checkpoint')
       where (contract, token_id) in (
         select contract, token_id from transfers
          where block_number > (select cast(value as bigint) from meta where key = 'confirmed_block'))`.execute(db);
  }
  // 0.3.0 could not follow a chain whose genesis block has the contracts: it began after block -1. Block 0 has no events.
  await sql`update meta set value = '0' where key in ('checkpoint', 'confirmed_block') and value = '-1'`.execute(db);
}
