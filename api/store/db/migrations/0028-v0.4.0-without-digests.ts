import type { Kysely } from "kysely";

/** The nodes agree about hashes of blocks, which stand for the logs. Version 0.3.0 cannot run beside this one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["own_logs", "foreign_logs"]) await db.schema.alterTable("blocks").dropColumn(column).execute();
}
