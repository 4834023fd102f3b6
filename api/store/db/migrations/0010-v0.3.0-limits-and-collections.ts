import { type Kysely, sql } from "kysely";

/**
 * Adds three columns. `gas_estimate`: the gas that a request reserves from its app's budget until its cost is known. It depends
 * on the chain's prices when the request was accepted; earlier requests have none. `rate_limit_per_minute`: a limit of a token
 * below that of its app. `done_at`: when leased work that is not done all the time was last done.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests add column gas_estimate bigint`.execute(db);
  await sql`alter table api_tokens add column rate_limit_per_minute integer`.execute(db);
  await sql`alter table leases add column done_at bigint`.execute(db);
}
