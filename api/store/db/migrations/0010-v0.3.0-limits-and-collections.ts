import { type Kysely, sql } from "kysely";

/**
 * What a request reserves of its app's gas budget until its cost is known: the estimate depends on what the chain charged when
 * the request was accepted. Requests of earlier versions have none. Then the rate limit of a token below that of its app, and
 * when leased work that is done now and then was done last.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests add column gas_estimate bigint`.execute(db);
  await sql`alter table api_tokens add column rate_limit_per_minute integer`.execute(db);
  await sql`alter table leases add column done_at bigint`.execute(db);
}
