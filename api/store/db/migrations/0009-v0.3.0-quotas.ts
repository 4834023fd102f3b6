import { type Kysely, sql } from "kysely";

/**
 * Quotas for what an app stores. Apps that exist have none of them. What their requests have stored until now counts as nothing:
 * to measure it would rewrite every request.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const quota of ["stored_bytes", "collections", "mints", "api_tokens"]) {
    await sql`alter table apps add column ${sql.ref(`quota_${quota}`)} bigint`.execute(db);
  }
  await sql`alter table requests add column stored_bytes bigint not null default 0`.execute(db);
}
