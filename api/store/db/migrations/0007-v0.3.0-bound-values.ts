import { type Kysely, sql } from "kysely";

/**
 * Earlier versions encrypted values that name no row. Where there are some, they are accepted until `keys rotate` has
 * re-encrypted them. A new database has none and never accepts any. With `seq` in the condition both engines find such requests
 * by an index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into meta (key, value)
    select 'unbound_values', 'accepted'
     where exists (select 1 from webhooks) or exists (select 1 from requests where unlockable is not null and seq > 0)`.execute(
    db,
  );
}
