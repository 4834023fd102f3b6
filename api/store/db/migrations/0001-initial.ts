import { type CreateTableBuilder, type Kysely, sql } from "kysely";

import { engineOf } from "../engine.ts";

/** A growing row number that is never given twice: the order of every listing. */
function withRowNumber<T extends string>(db: Kysely<unknown>, table: CreateTableBuilder<T>, column: string) {
  return engineOf(db) === "sqlite"
    ? table.addColumn(column, "integer", (c) => c.primaryKey().autoIncrement())
    : table.addColumn(column, "bigint", (c) => c.primaryKey().generatedAlwaysAsIdentity());
}

/** Milliseconds, block numbers, counts: 64 bits on either engine. */
const INT = "bigint";

export async function up(db: Kysely<unknown>): Promise<void> {
  const create = (name: string) => db.schema.createTable(name);
  const index = (name: string, table: string, columns: string[]) =>
    db.schema.createIndex(name).on(table).columns(columns).execute();
  const uniqueIndex = (name: string, table: string, columns: string[]) =>
    db.schema.createIndex(name).unique().on(table).columns(columns).execute();

  await create("meta")
    .addColumn("key", "text", (c) => c.primaryKey())
    .addColumn("value", "text", (c) => c.notNull())
    .execute();
  await create("counters")
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("slot", "integer", (c) => c.notNull())
    .addColumn("value", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("counters_pk", ["key", "slot"])
    .execute();

  await create("apps")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("name", "text", (c) => c.notNull().unique())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await create("api_tokens")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("hash", "text", (c) => c.notNull().unique())
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("expires_at", INT)
    .addColumn("revoked_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await index("api_tokens_app", "api_tokens", ["app_id"]);

  await withRowNumber(db, create("wallets"), "seq")
    .addColumn("address", "text", (c) => c.notNull().unique())
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("user_identifier", "text")
    .addColumn("path", "text", (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await uniqueIndex("wallets_user", "wallets", ["app_id", "user_identifier"]);
  await index("wallets_app", "wallets", ["app_id", "seq"]);

  await create("gas_usage")
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("day", INT, (c) => c.notNull())
    .addColumn("used", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("gas_usage_pk", ["app_id", "day"])
    .execute();

  await create("idempotency_keys")
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("key", "text", (c) => c.notNull())
    .addColumn("fingerprint", "text", (c) => c.notNull())
    .addColumn("response", "text", (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("idempotency_keys_pk", ["app_id", "key"])
    .execute();

  await create("lanes")
    .addColumn("lane", "integer", (c) => c.primaryKey())
    .addColumn("address", "text", (c) => c.notNull().unique())
    .addColumn("next_nonce", INT, (c) => c.notNull())
    .addColumn("lease_holder", "text")
    .addColumn("lease_fence", INT, (c) => c.notNull())
    .addColumn("lease_until", INT, (c) => c.notNull())
    .execute();
  await withRowNumber(db, create("batches"), "id")
    .addColumn("lane", "integer", (c) => c.notNull().references("lanes.lane"))
    .addColumn("nonce", INT, (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("size", "integer", (c) => c.notNull())
    .addColumn("block_number", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await uniqueIndex("batches_nonce", "batches", ["lane", "nonce"]);
  await index("batches_block", "batches", ["block_number"]);
  await sql`create index batches_open on batches (lane, nonce) where status = 'open'`.execute(db);
  await withRowNumber(db, create("attempts"), "id")
    .addColumn("batch_id", INT, (c) => c.notNull().references("batches.id"))
    .addColumn("hash", "text", (c) => c.notNull().unique())
    .addColumn("raw", "text", (c) => c.notNull())
    .addColumn("max_fee_per_gas", "text", (c) => c.notNull())
    .addColumn("max_priority_fee_per_gas", "text", (c) => c.notNull())
    .addColumn("gas_limit", "text", (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("sent_at", INT)
    .execute();
  await index("attempts_batch", "attempts", ["batch_id", "id"]);

  await withRowNumber(db, create("requests"), "seq")
    .addColumn("id", "text", (c) => c.notNull().unique())
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("command", "text", (c) => c.notNull())
    .addColumn("unlockable", "text")
    .addColumn("ready_at", INT)
    .addColumn("lane", "integer", (c) => c.references("lanes.lane"))
    .addColumn("number", "text", (c) => c.unique())
    .addColumn("batch_id", INT, (c) => c.references("batches.id"))
    .addColumn("returns", "integer", (c) => c.notNull())
    .addColumn("outcome", "text")
    .addColumn("nft_collection", "text")
    .addColumn("nft_token_id", "text")
    .addColumn("transaction_hash", "text")
    .addColumn("block_number", INT)
    .addColumn("error_code", "text")
    .addColumn("errors", "text")
    .addColumn("gas_day", INT)
    .addColumn("gas_charged", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    .execute();
  await index("requests_app", "requests", ["app_id", "seq"]);
  await index("requests_app_status", "requests", ["app_id", "status", "seq"]);
  await index("requests_app_type", "requests", ["app_id", "type", "seq"]);
  await index("requests_app_status_type", "requests", ["app_id", "status", "type", "seq"]);
  await sql`create index requests_ready on requests (ready_at) where ready_at is not null`.execute(db);
  await sql`create index requests_ready_app on requests (app_id, ready_at, seq) where ready_at is not null`.execute(db);
  await sql`create index requests_claimed on requests (lane) where lane is not null and batch_id is null`.execute(db);
  await sql`create index requests_sealed on requests (seq) where unlockable is not null`.execute(db);
  await sql`create index requests_unsettled on requests (block_number) where outcome is not null`.execute(db);

  await create("batch_items")
    .addColumn("batch_id", INT, (c) => c.notNull().references("batches.id"))
    .addColumn("position", "integer", (c) => c.notNull())
    .addColumn("request_id", "text", (c) => c.notNull().references("requests.id"))
    .addPrimaryKeyConstraint("batch_items_pk", ["batch_id", "position"])
    .execute();
  await index("batch_items_request", "batch_items", ["request_id"]);

  await create("blocks")
    .addColumn("number", INT, (c) => c.primaryKey())
    .addColumn("hash", "text", (c) => c.notNull())
    .addColumn("parent_hash", "text", (c) => c.notNull())
    .addColumn("timestamp", INT, (c) => c.notNull())
    .execute();
  await withRowNumber(db, create("collections"), "seq")
    .addColumn("address", "text", (c) => c.notNull().unique())
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("request_id", "text", (c) => c.notNull().references("requests.id"))
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("hosting", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("symbol", "text", (c) => c.notNull())
    .addColumn("max_supply", INT)
    .addColumn("soulbound", "integer", (c) => c.notNull())
    .addColumn("minted", INT, (c) => c.notNull())
    .addColumn("reserved", INT, (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("base_uri", "text")
    .addColumn("collection_uri", "text")
    .addColumn("metadata", "text", (c) => c.notNull())
    .addColumn("service_may_mint", "integer", (c) => c.notNull())
    .addColumn("service_is_steward", "integer", (c) => c.notNull())
    .addColumn("metadata_frozen", "integer", (c) => c.notNull())
    .addColumn("listed", "integer", (c) => c.notNull())
    .addColumn("block_number", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await index("collections_app", "collections", ["app_id", "listed", "seq"]);
  await sql`create index collections_unlisted on collections (block_number) where listed = 0`.execute(db);
  await create("foreign_contracts")
    .addColumn("address", "text", (c) => c.primaryKey())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("name", "text")
    .addColumn("followed_from", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await withRowNumber(db, create("nfts"), "seq")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("token_id", "text", (c) => c.notNull())
    .addColumn("request_id", "text", (c) => c.references("requests.id"))
    .addColumn("supply", "text", (c) => c.notNull())
    .addColumn("reserved", "text", (c) => c.notNull())
    .addColumn("token_uri", "text")
    .addColumn("metadata", "text")
    .addColumn("minted_block", INT)
    .addColumn("minted_at", INT)
    .execute();
  await uniqueIndex("nfts_token", "nfts", ["contract", "token_id"]);
  await index("nfts_minted", "nfts", ["minted_block"]);
  await sql`create index nfts_reserved on nfts (contract) where minted_block is null`.execute(db);
  await sql`create index nfts_listed on nfts (contract, seq) where minted_block is not null and supply <> '0'`.execute(
    db,
  );
  await withRowNumber(db, create("holdings"), "seq")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("token_id", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("quantity", "text", (c) => c.notNull())
    .addColumn("reserved", "text", (c) => c.notNull())
    .addColumn("since_block", INT, (c) => c.notNull())
    .execute();
  await uniqueIndex("holdings_token_owner", "holdings", ["contract", "token_id", "owner"]);
  await index("holdings_token", "holdings", ["contract", "token_id", "seq"]);
  await index("holdings_block", "holdings", ["since_block"]);
  await index("holdings_owner", "holdings", ["owner", "seq"]);
  await index("holdings_owner_contract", "holdings", ["owner", "contract", "seq"]);

  await withRowNumber(db, create("transfers"), "id")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("token_id", "text", (c) => c.notNull())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("quantity", "text", (c) => c.notNull())
    .addColumn("from_address", "text")
    .addColumn("to_address", "text")
    .addColumn("transaction_hash", "text", (c) => c.notNull())
    .addColumn("block_number", INT, (c) => c.notNull())
    .addColumn("log_index", "integer", (c) => c.notNull())
    .addColumn("sub_index", "integer", (c) => c.notNull())
    .addColumn("timestamp", INT, (c) => c.notNull())
    .addColumn("request_id", "text", (c) => c.references("requests.id"))
    .execute();
  await uniqueIndex("transfers_log", "transfers", ["block_number", "log_index", "sub_index"]);
  await index("transfers_token", "transfers", ["contract", "token_id", "id"]);
  await create("wallet_history")
    .addColumn("wallet", "text", (c) => c.notNull())
    .addColumn("transfer_id", INT, (c) => c.notNull().references("transfers.id").onDelete("cascade"))
    .addPrimaryKeyConstraint("wallet_history_pk", ["wallet", "transfer_id"])
    .execute();
  await index("wallet_history_transfer", "wallet_history", ["transfer_id"]);

  await create("media")
    .addColumn("cid", "text", (c) => c.primaryKey())
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("size", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();

  await withRowNumber(db, create("media_jobs"), "seq")
    .addColumn("request_id", "text", (c) => c.notNull().unique().references("requests.id"))
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("due_at", INT, (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", INT, (c) => c.notNull())
    .addColumn("holder", "text")
    .execute();
  await index("media_jobs_due", "media_jobs", ["app_id", "due_at", "seq"]);
  await sql`create index media_jobs_held on media_jobs (holder) where holder is not null`.execute(db);

  await create("pins")
    .addColumn("cid", "text", (c) => c.primaryKey())
    .addColumn("due_at", INT)
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", INT, (c) => c.notNull())
    .addColumn("error", "text")
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await sql`create index pins_due on pins (due_at) where due_at is not null`.execute(db);

  await create("announcements")
    .addColumn("cid", "text", (c) => c.primaryKey())
    .addColumn("due_at", INT, (c) => c.notNull())
    .execute();
  await index("announcements_due", "announcements", ["due_at"]);

  await withRowNumber(db, create("chain_edits"), "id")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("token_id", "text")
    .addColumn("column", "text", (c) => c.notNull())
    .addColumn("previous", "text", (c) => c.notNull())
    .addColumn("block_number", INT, (c) => c.notNull())
    .execute();
  await index("chain_edits_block", "chain_edits", ["block_number"]);
  await create("uncertain_holdings")
    .addColumn("contract", "text", (c) => c.notNull())
    .addColumn("token_id", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("uncertain_holdings_pk", ["contract", "token_id", "owner"])
    .execute();

  await create("webhooks")
    .addColumn("app_id", "text", (c) => c.primaryKey().references("apps.id"))
    .addColumn("url", "text", (c) => c.notNull())
    .addColumn("secrets", "text", (c) => c.notNull())
    .addColumn("events", "text")
    .addColumn("disabled_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    .execute();
  await withRowNumber(db, create("events"), "seq")
    .addColumn("id", "text", (c) => c.notNull().unique())
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("position", INT)
    .addColumn("request_id", "text", (c) => c.references("requests.id"))
    .addColumn("type", "text", (c) => c.notNull())
    .addColumn("body", "text", (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await sql`create unique index events_once on events (request_id, type) where type <> 'corrected'`.execute(db);
  // Of `completed` and `error`, one per request, ever: the database itself refuses a second.
  await sql`create unique index events_final on events (request_id) where type in ('completed', 'error')`.execute(db);
  await sql`create index events_corrected on events (created_at) where type = 'corrected'`.execute(db);
  await uniqueIndex("events_feed", "events", ["app_id", "position"]);
  await withRowNumber(db, create("deliveries"), "seq")
    .addColumn("id", "text", (c) => c.notNull().unique())
    .addColumn("event_seq", INT, (c) => c.notNull().references("events.seq"))
    .addColumn("app_id", "text", (c) => c.notNull().references("apps.id"))
    .addColumn("request_id", "text")
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("next_at", INT)
    .addColumn("response_status", "integer")
    .addColumn("error", "text")
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    .execute();
  await index("deliveries_app", "deliveries", ["app_id", "seq"]);
  await index("deliveries_request", "deliveries", ["request_id", "seq"]);
  await sql`create index deliveries_waiting on deliveries (app_id, seq) where status = 'pending'`.execute(db);
  await sql`create index deliveries_failed on deliveries (app_id, seq) where status = 'failed'`.execute(db);
  await sql`create index deliveries_due on deliveries (app_id, next_at, seq) where next_at is not null`.execute(db);
  await create("abandoned_deliveries")
    .addColumn("app_id", "text", (c) => c.primaryKey().references("apps.id"))
    .addColumn("up_to_seq", INT, (c) => c.notNull())
    .addColumn("reason", "text", (c) => c.notNull())
    .execute();
}
