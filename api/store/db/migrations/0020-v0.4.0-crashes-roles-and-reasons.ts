import { type Kysely, sql } from "kysely";

import { INT, type SchemaKit, schemaKit } from "./kit.ts";

/** `schema.ts` says what the tables and columns mean. Version 0.3.0 cannot run beside this one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  const add = (table: string, column: string, type: typeof TEXT | typeof INT, fallback?: number) =>
    db.schema
      .alterTable(table)
      .addColumn(column, type, (c) => (fallback === undefined ? c : c.notNull().defaultTo(sql.lit(fallback))))
      .execute();
  // Who works on a job, and how often a process died at it. Media jobs have a holder already.
  await add("deliveries", "holder", TEXT);
  for (const table of ["media_jobs", "deliveries"]) await add(table, "crashes", INT, 0);
  // It is not certain that a wallet has delegated: its next transaction carries an authorization once more.
  await add("wallets", "delegated", INT, 0);
  for (const table of ["lanes", "requests"]) await add(table, "waiting_for", TEXT);
  await createTablesOfRoles(db, schemaKit(db));
  /*
   * The block of the last change of a quantity tells whether it is final. For rows that exist it is needed only where a block
   * that is not final has changed them: the checkpoint is no earlier than that block.
   */
  for (const table of ["nfts", "holdings"]) {
    await add(table, "changed_block", INT);
    await sql`
      update ${sql.table(table)} set changed_block = (select cast(value as bigint) from meta where key = 'checkpoint')
       where (contract, token_id) in (
         select contract, token_id from transfers
          where block_number > (select cast(value as bigint) from meta where key = 'confirmed_block'))`.execute(db);
  }
  // 0.3.0 could not follow a chain whose genesis block has the contracts: it began after block -1. Block 0 has no events.
  await sql`update meta set value = '0' where key in ('checkpoint', 'confirmed_block') and value = '-1'`.execute(db);
  // Collections are verified by a command, whose answers are in `collections.verified`.
  await db.schema.dropTable("verifications").execute();
  await sql`delete from leases where name = 'verifier'`.execute(db);
  // Pins and announcements are not parked any more: each is tried again at its own time.
  await sql`delete from parked_rows where kind in ('verification', 'pin', 'announcement')`.execute(db);
  // The nodes agree about hashes of blocks, which stand for the logs.
  for (const column of ["own_logs", "foreign_logs"]) await db.schema.alterTable("blocks").dropColumn(column).execute();
}

/**
 * What the processes with the roles `media` and `ipfs` write gets tables of its own, so that PostgreSQL can refuse them
 * everything else. Jobs, leases and parked rows that exist go on.
 */
async function createTablesOfRoles(db: Kysely<unknown>, { TEXT, create, numbered, busy }: SchemaKit): Promise<void> {
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
  for (const [table, lease] of [
    ["media_leases", "media_collector"],
    ["ipfs_leases", "announcer"],
  ] as const) {
    await create(table)
      .addColumn("name", TEXT, (c) => c.primaryKey())
      .addColumn("holder", TEXT)
      .addColumn("fence", INT, (c) => c.notNull())
      .addColumn("until", INT, (c) => c.notNull())
      .addColumn("done_at", INT)
      .execute();
    await busy(table, 50);
    await move(db, "leases", table, "name, holder, fence, until, done_at", sql`name = ${lease}`);
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
  const parked = "kind, id, reason, tries, since, next_at";
  await move(db, "parked_rows", "media_parked_rows", parked, sql`kind = 'media_job'`);
}

async function move(
  db: Kysely<unknown>,
  from: string,
  to: string,
  columns: string,
  where: ReturnType<typeof sql>,
): Promise<void> {
  await sql`
    insert into ${sql.table(to)} (${sql.raw(columns)})
    select ${sql.raw(columns)} from ${sql.table(from)} where ${where}`.execute(db);
  await sql`delete from ${sql.table(from)} where ${where}`.execute(db);
}
