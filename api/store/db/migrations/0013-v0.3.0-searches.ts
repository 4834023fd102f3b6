import { type Kysely, sql } from "kysely";

/**
 * Users, and names and symbols of collections, by how they begin. `lower` changes A to Z only, on either engine. The index has
 * only the first characters of a text: PostgreSQL limits what an index holds, and the settings limit no text to less than that.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index wallets_search on wallets (app_id, (lower(substr(user_identifier, 1, 64))), seq)
    where user_identifier is not null`.execute(db);
  await sql`create index collections_search_name on collections (app_id, (lower(substr(name, 1, 64))), seq)
    where listed = 1`.execute(db);
  await sql`create index collections_search_symbol on collections (app_id, (lower(substr(symbol, 1, 64))), seq)
    where listed = 1`.execute(db);
}
