import { type Kysely, sql } from "kysely";

/** What the node last said about each signed transaction. It decides whether a transaction is given up at once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table attempts add column answer text`.execute(db);
}
