import { type Kysely, sql } from "kysely";

import { INT } from "./kit.ts";

/**
 * Whether it is certain that a wallet has delegated. Of the wallets that exist it is not: the next transaction of each carries an
 * authorization once more.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("wallets")
    .addColumn("delegated", INT, (c) => c.notNull().defaultTo(sql.lit(0)))
    .execute();
}
