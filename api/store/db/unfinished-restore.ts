import { sql } from "kysely";

import { DatabaseError } from "./errors.ts";
import { type Db, engineOf } from "./sql.ts";

/** A PostgreSQL database has this table while a backup is restored into it. On SQLite a file gets its name at the end. */
export const UNFINISHED_RESTORE = "unfinished_restore";

/** @throws DatabaseError when a restore into the database has not ended. */
export async function requireRestoreFinished(db: Db): Promise<void> {
  if (engineOf(db) === "sqlite") return;
  const { rows } = await sql<{ found: number }>`
    select to_regclass(${UNFINISHED_RESTORE}) is not null as found`.execute(db);
  if (rows[0]?.found !== 1) return;
  throw new DatabaseError(
    "A restore into this database has not ended. Wait for it. If it was interrupted, run the same `npm run cli -- restore` again.",
  );
}
