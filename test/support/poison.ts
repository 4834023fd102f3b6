import { sql } from "kysely";

import type { Database } from "../../api/store/db/database.ts";
import { allParked } from "../../api/store/db/parked-rows.ts";

/** The parked rows of a kind, by their ids. */
export async function parkedIds(database: Database, kind: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from ${allParked()} as parked where kind = ${kind} order by id`.execute(database.read);
  return rows.map(({ id }) => id);
}
