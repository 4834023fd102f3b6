import { type Kysely, sql } from "kysely";

import { schemaKit } from "./kit.ts";

/**
 * Quotas for what an app stores, and indexes for rows that are deleted when they are old. Apps that exist have none of these
 * quotas. What their requests have stored until now counts as nothing: to measure it would rewrite every request.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { partialIndex } = schemaKit(db);
  for (const quota of ["stored_bytes", "collections", "mints", "api_tokens"]) {
    await sql`alter table apps add column ${sql.ref(`quota_${quota}`)} bigint`.execute(db);
  }
  await sql`alter table requests add column stored_bytes bigint not null default 0`.execute(db);
  await partialIndex("deliveries_dead", "deliveries (updated_at)", "status = 'failed'");
  await partialIndex("idempotency_keys_long", "idempotency_keys (created_at)", "length(response) > 2000");
  // When a token stopped working.
  await sql`create index api_tokens_ended on api_tokens
    ((case when expires_at is null or revoked_at < expires_at then revoked_at else expires_at end))`.execute(db);
}
