import { type Kysely, sql } from "kysely";

/**
 * Collections are verified by a command, and no longer in the background. Its answers stay in `collections.verified`. Version
 * 0.3.0 cannot run beside this one: it stops when the tables are updated.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable("verifications").execute();
  await sql`delete from parked_rows where kind = 'verification'`.execute(db);
  await sql`delete from leases where name = 'verifier'`.execute(db);
}
