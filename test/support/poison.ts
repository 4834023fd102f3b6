import { sql } from "kysely";

import type { Database } from "../../api/store/db/database.ts";

/** The parked rows of a kind, by their ids. */
export async function parkedIds(database: Database, kind: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from parked_rows where kind = ${kind} order by id`.execute(database.read);
  return rows.map(({ id }) => id);
}
