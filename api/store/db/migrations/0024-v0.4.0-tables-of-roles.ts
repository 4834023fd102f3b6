import { type Kysely, sql } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/**
 * What the processes with the roles `media` and `ipfs` write gets tables of its own, so that PostgreSQL can refuse them
 * everything else. Jobs, leases and parked rows that exist go on. `schema.ts` says what the columns mean.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, numbered, busy } = schemaKit(db);
  await numbered(create("media_results"), "seq")
    .addColumn("request_id", TEXT, (c) => c.notNull().unique())
    .addColumn("result", TEXT, (c) => c.notNull())
    .execute();
  await create("forgotten_media")
    .addColumn("cid", TEXT, (c) => c.primaryKey())
    .execute();
  await create("media_store_lock")
    .addColumn("id", INT, (c) => c.primaryKey())
    .execute();
  await sql`insert into media_store_lock (id) values (1)`.execute(db);
  await create("other_processes")
    .addColumn("id", TEXT, (c) => c.primaryKey())
    .addColumn("until", INT, (c) => c.notNull())
    .execute();
  await sql`delete from processes where role = 'other'`.execute(db);
  for (const table of ["media_leases", "ipfs_leases"]) {
    await create(table)
      .addColumn("name", TEXT, (c) => c.primaryKey())
      .addColumn("holder", TEXT)
      .addColumn("fence", INT, (c) => c.notNull())
      .addColumn("until", INT, (c) => c.notNull())
      .addColumn("done_at", INT)
      .execute();
    await busy(table, 50);
  }
  await create("media_parked_rows")
    .addColumn("kind", TEXT, (c) => c.notNull())
    .addColumn("id", TEXT, (c) => c.notNull())
    .addColumn("reason", TEXT, (c) => c.notNull())
    .addColumn("tries", INT, (c) => c.notNull())
    .addColumn("since", INT, (c) => c.notNull())
    .addColumn("next_at", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("media_parked_rows_key", ["kind", "id"])
    .execute();
  await move(db, "leases", "media_leases", sql`name = 'media_collector'`);
  await move(db, "leases", "ipfs_leases", sql`name = 'announcer'`);
  await move(db, "parked_rows", "media_parked_rows", sql`kind = 'media_job'`);
  // Pins and announcements are not parked any more: each is tried again at its own time.
  await sql`delete from parked_rows where kind in ('pin', 'announcement')`.execute(db);
}

const COLUMNS: Record<string, string> = {
  leases: "name, holder, fence, until, done_at",
  parked_rows: "kind, id, reason, tries, since, next_at",
};

async function move(
  db: Kysely<unknown>,
  from: "leases" | "parked_rows",
  to: string,
  where: ReturnType<typeof sql>,
): Promise<void> {
  const columns = sql.raw(COLUMNS[from] ?? "");
  await sql`
    insert into ${sql.table(to)} (${columns}) select ${columns} from ${sql.table(from)} where ${where}`.execute(db);
  await sql`delete from ${sql.table(from)} where ${where}`.execute(db);
}
