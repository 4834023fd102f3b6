import { type Kysely, sql } from "kysely";

import { engineOf } from "../engine.ts";

const INT = "bigint";

/** The scopes that existed before `contracts`. A token that has them all was made without restrictions. */
const EVERY_SCOPE = ["read", "accounts", "collections", "mint", "transfer", "webhooks"];

/** Contracts are followed by apps, have states, and are read by jobs. Tokens with every scope get the scope `contracts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const old = "foreign_contracts_0001";
  await db.schema.alterTable("foreign_contracts").renameTo(old).execute();
  await createContracts(db);
  await createFollows(db);
  await createReads(db);
  await sql`
    insert into foreign_contracts (address, type, name, state, failures, quarantines, window_from, window_logs, created_at)
    select address, type, name, 'followed', 0, 0, 0, 0, created_at from ${sql.table(old)}`.execute(db);
  // An app follows the contracts whose tokens its wallets hold or moved.
  await sql`
    insert into contract_follows (app_id, address, followed_from, created_at)
    select found.app_id, old.address, old.followed_from, old.created_at
      from ${sql.table(old)} as old
      join (select holdings.contract, wallets.app_id from holdings join wallets on wallets.address = holdings.owner
            union
            select transfers.contract, wallets.app_id from transfers
              join wallet_history on wallet_history.transfer_id = transfers.id
              join wallets on wallets.address = wallet_history.wallet) as found on found.contract = old.address
     order by old.created_at, old.address, found.app_id`.execute(db);
  await sql`
    insert into counters (key, slot, value)
    select 'contracts:' || app_id, 0, count(*) from contract_follows group by app_id`.execute(db);
  await db.schema.dropTable(old).execute();
  await sql`
    update api_tokens set scopes = ${JSON.stringify([...EVERY_SCOPE, "contracts"])}
     where scopes = ${JSON.stringify(EVERY_SCOPE)}`.execute(db);
}

async function createContracts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("foreign_contracts")
    .addColumn("address", "text", (c) => c.primaryKey())
    .addColumn("type", "text")
    .addColumn("name", "text")
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("reason", "text")
    .addColumn("due_at", INT)
    .addColumn("as_of", INT)
    .addColumn("failures", "integer", (c) => c.notNull())
    .addColumn("quarantines", "integer", (c) => c.notNull())
    .addColumn("released_at", INT)
    .addColumn("window_from", INT, (c) => c.notNull())
    .addColumn("window_logs", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await sql`create index foreign_contracts_as_of on foreign_contracts (as_of) where as_of is not null`.execute(db);
  await sql`create index foreign_contracts_due on foreign_contracts (due_at) where due_at is not null`.execute(db);
}

async function createFollows(db: Kysely<unknown>): Promise<void> {
  const table = db.schema.createTable("contract_follows");
  const numbered =
    engineOf(db) === "sqlite"
      ? table.addColumn("seq", "integer", (c) => c.primaryKey().autoIncrement())
      : table.addColumn("seq", "bigint", (c) => c.primaryKey().generatedAlwaysAsIdentity());
  await numbered
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("address", "text", (c) => c.notNull())
    .addColumn("followed_from", INT, (c) => c.notNull())
    .addColumn("ended_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await sql`create unique index contract_follows_open on contract_follows (app_id, address) where ended_at is null`.execute(
    db,
  );
  await db.schema.createIndex("contract_follows_app").on("contract_follows").columns(["app_id", "seq"]).execute();
  await db.schema.createIndex("contract_follows_from").on("contract_follows").column("followed_from").execute();
  await db.schema.createIndex("contract_follows_address").on("contract_follows").column("address").execute();
}

async function createReads(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("contract_reads")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("search", "integer", (c) => c.notNull())
    .addColumn("complete_to", INT)
    .addColumn("due_at", INT)
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("contract_reads_pk", ["contract", "owner"])
    .execute();
  await sql`create index contract_reads_due on contract_reads (due_at) where due_at is not null`.execute(db);
  await db.schema.createIndex("contract_reads_complete").on("contract_reads").column("complete_to").execute();
  await db.schema.createIndex("contract_reads_app").on("contract_reads").columns(["app_id", "contract"]).execute();
  await db.schema
    .createTable("read_rates")
    .addColumn("app_id", "text", (c) => c.primaryKey().references("apps.id"))
    .addColumn("minute", INT, (c) => c.notNull())
    .addColumn("used", INT, (c) => c.notNull())
    .execute();
  const old = "uncertain_holdings_0001";
  await db.schema.alterTable("uncertain_holdings").renameTo(old).execute();
  await db.schema
    .createTable("uncertain_holdings")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("token_id", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("block", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("uncertain_holdings_pk", ["contract", "owner", "token_id"])
    .execute();
  await sql`
    insert into uncertain_holdings (contract, token_id, owner, block)
    select contract, token_id, owner, 0 from ${sql.table(old)}`.execute(db);
  await sql`
    insert into contract_reads (contract, owner, app_id, search, due_at, tries, fence)
    select distinct old.contract, old.owner, wallets.app_id, 1, 0, 0, 0 from ${sql.table(old)} as old
      join wallets on wallets.address = old.owner`.execute(db);
  await db.schema.dropTable(old).execute();
}
