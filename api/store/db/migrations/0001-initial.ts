import type { Kysely } from "kysely";

import { INT, schemaKit, type SchemaKit } from "./kit.ts";

/** Every table. `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const kit = schemaKit(db);
  await createAccounts(kit);
  await createRequests(kit);
  await createLedger(kit);
  await createContracts(kit);
  await createMedia(kit);
  await createOutbox(kit);
  await createProcesses(kit);
  // Counters are updated in place; half of each page is free for the new versions of its rows.
  await kit.busy("counters", 50);
  await kit.busy("requests", 80);
  await kit.busy("media_jobs", 80);
  await kit.busy("deliveries", 80);
  await kit.busy("leases", 50);
}

/** Requests, and the transactions that they are sent in. */
async function createRequests(kit: SchemaKit): Promise<void> {
  await createSending(kit);
  await createAccepted(kit);
}

async function createSending({ TEXT, create, index, numbered, partialIndex, uniqueIndex }: SchemaKit): Promise<void> {
  await create("lanes")
    .addColumn("lane", "integer", (c) => c.primaryKey())
    .addColumn("address", TEXT, (c) => c.notNull().unique())
    .addColumn("next_nonce", INT, (c) => c.notNull())
    .addColumn("lease_holder", TEXT)
    .addColumn("lease_fence", INT, (c) => c.notNull())
    .addColumn("lease_until", INT, (c) => c.notNull())
    .execute();
  await numbered(create("batches"), "id")
    .addColumn("lane", "integer", (c) => c.notNull().references("lanes.lane"))
    .addColumn("nonce", INT, (c) => c.notNull())
    .addColumn("status", TEXT, (c) => c.notNull())
    .addColumn("size", "integer", (c) => c.notNull())
    .addColumn("block_number", INT)
    .addColumn("gas_used", INT)
    .addColumn("fee_wei", TEXT)
    .addColumn("cost_day", INT)
    .addColumn("ran", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("keeps_raw", "integer", (c) => c.notNull().defaultTo(1))
    .addColumn("keeps_items", "integer", (c) => c.notNull().defaultTo(1))
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await uniqueIndex("batches_nonce", "batches", ["lane", "nonce"]);
  await index("batches_block", "batches", ["block_number"]);
  await partialIndex("batches_open", "batches (lane, nonce)", "status = 'open'");
  await partialIndex("batches_without_cost", "batches (id)", "status = 'closed' and fee_wei is null");
  // In the order of their age: what pruning may remove.
  const done = "ran = 1 and fee_wei is not null";
  await partialIndex("batches_with_raw", "batches (created_at)", `keeps_raw = 1 and ${done}`);
  await partialIndex("batches_with_items", "batches (created_at)", `keeps_items = 1 and ${done}`);
  await numbered(create("attempts"), "id")
    .addColumn("batch_id", INT, (c) => c.notNull().references("batches.id"))
    .addColumn("hash", TEXT, (c) => c.notNull().unique())
    .addColumn("raw", TEXT)
    .addColumn("max_fee_per_gas", TEXT, (c) => c.notNull())
    .addColumn("max_priority_fee_per_gas", TEXT, (c) => c.notNull())
    .addColumn("gas_limit", TEXT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("sent_at", INT)
    .execute();
  await index("attempts_batch", "attempts", ["batch_id", "id"]);
}

async function createAccepted({ TEXT, create, index, numbered, partialIndex }: SchemaKit): Promise<void> {
  await numbered(create("requests"), "seq")
    .addColumn("id", TEXT, (c) => c.notNull().unique())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("type", TEXT, (c) => c.notNull())
    .addColumn("status", TEXT, (c) => c.notNull())
    .addColumn("command", TEXT, (c) => c.notNull())
    .addColumn("unlockable", TEXT)
    .addColumn("ready_at", INT)
    .addColumn("lane", "integer", (c) => c.references("lanes.lane"))
    .addColumn("number", TEXT, (c) => c.unique())
    .addColumn("batch_id", INT, (c) => c.references("batches.id"))
    .addColumn("returns", "integer", (c) => c.notNull())
    .addColumn("outcome", TEXT)
    .addColumn("nft_collection", TEXT)
    .addColumn("nft_token_id", TEXT)
    .addColumn("transaction_hash", TEXT)
    .addColumn("block_number", INT)
    .addColumn("error_code", TEXT)
    .addColumn("errors", TEXT)
    .addColumn("gas_day", INT)
    .addColumn("gas_charged", INT)
    .addColumn("gas_used", INT)
    .addColumn("fee_wei", TEXT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    .execute();
  await index("requests_app", "requests", ["app_id", "seq"]);
  await index("requests_app_status", "requests", ["app_id", "status", "seq"]);
  await index("requests_app_type", "requests", ["app_id", "type", "seq"]);
  await index("requests_app_status_type", "requests", ["app_id", "status", "type", "seq"]);
  await partialIndex("requests_ready", "requests (ready_at)", "ready_at is not null");
  await partialIndex("requests_ready_app", "requests (app_id, ready_at, seq)", "ready_at is not null");
  await partialIndex("requests_claimed", "requests (lane)", "lane is not null and batch_id is null");
  await partialIndex("requests_sealed", "requests (seq)", "unlockable is not null");
  await partialIndex("requests_unsettled", "requests (block_number)", "outcome is not null");
  await create("batch_items")
    .addColumn("batch_id", INT, (c) => c.notNull().references("batches.id"))
    .addColumn("position", "integer", (c) => c.notNull())
    .addColumn("request_id", TEXT, (c) => c.notNull().references("requests.id"))
    .addColumn("weight", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("batch_items_pk", ["batch_id", "position"])
    .execute();
}

/** What several processes of one installation share: leases, who runs, and calls counted for rate limits. */
async function createProcesses({ TEXT, create, index }: SchemaKit): Promise<void> {
  await create("leases")
    .addColumn("name", TEXT, (c) => c.primaryKey())
    .addColumn("holder", TEXT)
    .addColumn("fence", INT, (c) => c.notNull())
    .addColumn("until", INT, (c) => c.notNull())
    .execute();
  await create("processes")
    .addColumn("id", TEXT, (c) => c.notNull())
    .addColumn("role", TEXT, (c) => c.notNull())
    .addColumn("until", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("processes_pk", ["role", "id"])
    .execute();
  await create("rate_counts")
    .addColumn("key", TEXT, (c) => c.primaryKey())
    .addColumn("used", INT, (c) => c.notNull())
    .addColumn("ends_at", INT, (c) => c.notNull())
    .execute();
  await index("rate_counts_end", "rate_counts", ["ends_at"]);
}

/** Events and their deliveries. */
async function createOutbox({
  TEXT,
  create,
  index,
  numbered,
  partialIndex,
  uniqueIndex,
  uniquePartialIndex,
}: SchemaKit): Promise<void> {
  await create("webhooks")
    .addColumn("app_id", TEXT, (c) => c.primaryKey().references("apps.id"))
    .addColumn("url", TEXT, (c) => c.notNull())
    .addColumn("secrets", TEXT, (c) => c.notNull())
    .addColumn("events", TEXT)
    .addColumn("disabled_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    .execute();
  await numbered(create("events"), "seq")
    .addColumn("id", TEXT, (c) => c.notNull().unique())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("position", INT)
    .addColumn("request_id", TEXT, (c) => c.references("requests.id"))
    .addColumn("type", TEXT, (c) => c.notNull())
    .addColumn("body", TEXT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await uniquePartialIndex("events_once", "events (request_id, type)", "type <> 'corrected'");
  // Of `completed` and `error`, one per request, ever: the database itself refuses a second.
  await uniquePartialIndex("events_final", "events (request_id)", "type in ('completed', 'error')");
  await partialIndex("events_corrected", "events (created_at)", "type = 'corrected'");
  await partialIndex("events_test", "events (created_at)", "type = 'test'");
  await uniqueIndex("events_feed", "events", ["app_id", "position"]);
  await numbered(create("deliveries"), "seq")
    .addColumn("id", TEXT, (c) => c.notNull().unique())
    .addColumn("event_seq", INT, (c) => c.notNull().references("events.seq"))
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("request_id", TEXT)
    .addColumn("status", TEXT, (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("next_at", INT)
    .addColumn("fence", INT, (c) => c.notNull().defaultTo(0))
    .addColumn("response_status", "integer")
    .addColumn("error", TEXT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    .execute();
  await index("deliveries_app", "deliveries", ["app_id", "seq"]);
  await index("deliveries_event", "deliveries", ["event_seq"]);
  await partialIndex("deliveries_request", "deliveries (request_id, seq)", "status = 'pending'");
  await partialIndex("deliveries_delivered", "deliveries (updated_at)", "status = 'delivered'");
  await partialIndex("deliveries_waiting", "deliveries (app_id, seq)", "status = 'pending'");
  await partialIndex("deliveries_failed", "deliveries (app_id, seq)", "status = 'failed'");
  await partialIndex("deliveries_due", "deliveries (app_id, next_at, seq)", "next_at is not null");
  await create("abandoned_deliveries")
    .addColumn("app_id", TEXT, (c) => c.primaryKey().references("apps.id"))
    .addColumn("up_to_seq", INT, (c) => c.notNull())
    .addColumn("reason", TEXT, (c) => c.notNull())
    .execute();
}

/** Hosted content and its jobs. */
async function createMedia(kit: SchemaKit): Promise<void> {
  const { TEXT, create, index, numbered, partialIndex } = kit;
  await create("media")
    .addColumn("cid", TEXT, (c) => c.primaryKey())
    .addColumn("type", TEXT, (c) => c.notNull())
    .addColumn("size", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await create("app_media")
    .addColumn("cid", TEXT, (c) => c.notNull())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("size", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("app_media_pk", ["cid", "app_id"])
    .execute();
  await numbered(create("media_jobs"), "seq")
    .addColumn("request_id", TEXT, (c) => c.notNull().unique().references("requests.id"))
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("due_at", INT, (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", INT, (c) => c.notNull())
    .addColumn("holder", TEXT)
    .execute();
  await index("media_jobs_due", "media_jobs", ["app_id", "due_at", "seq"]);
  await partialIndex("media_jobs_held", "media_jobs (holder)", "holder is not null");
  await create("pins")
    .addColumn("cid", TEXT, (c) => c.primaryKey())
    .addColumn("hosted", "integer", (c) => c.notNull())
    .addColumn("due_at", INT)
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", INT, (c) => c.notNull())
    .addColumn("error", TEXT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await partialIndex("pins_due", "pins (due_at)", "due_at is not null");
  await create("announcements")
    .addColumn("cid", TEXT, (c) => c.primaryKey())
    .addColumn("due_at", INT, (c) => c.notNull())
    .execute();
  await index("announcements_due", "announcements", ["due_at"]);
  await createBlocks(kit);
}

/** Blocks whose bytes are in the database or in a bucket. */
async function createBlocks({ TEXT, BYTES, create, index, partialIndex, uncompressed }: SchemaKit): Promise<void> {
  await create("media_blocks")
    .addColumn("store", TEXT, (c) => c.notNull())
    .addColumn("cid", TEXT, (c) => c.notNull())
    .addColumn("object", TEXT, (c) => c.notNull())
    .addColumn("size", INT, (c) => c.notNull())
    .addColumn("stored_at", INT, (c) => c.notNull())
    .addColumn("quarantine", TEXT)
    .addPrimaryKeyConstraint("media_blocks_pk", ["store", "cid"])
    .execute();
  await partialIndex("media_blocks_quarantined", "media_blocks (store, quarantine, cid)", "quarantine is not null");
  await create("media_bytes")
    .addColumn("object", TEXT, (c) => c.primaryKey())
    .addColumn("bytes", BYTES, (c) => c.notNull())
    .execute();
  await uncompressed("media_bytes", "bytes");
  await create("media_unused_objects")
    .addColumn("store", TEXT, (c) => c.notNull())
    .addColumn("object", TEXT, (c) => c.notNull())
    .addColumn("doomed", "integer", (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("media_unused_objects_pk", ["store", "object"])
    .execute();
  await index("media_unused_objects_due", "media_unused_objects", ["store", "doomed", "created_at"]);
  await create("media_collections")
    .addColumn("store", TEXT, (c) => c.primaryKey())
    .addColumn("id", TEXT, (c) => c.notNull())
    .execute();
}

/** What the chain says. */
async function createLedger(kit: SchemaKit): Promise<void> {
  await createTokens(kit);
  await createHistory(kit);
}

async function createTokens({ TEXT, create, index, numbered, partialIndex, uniqueIndex }: SchemaKit): Promise<void> {
  await numbered(create("collections"), "seq")
    .addColumn("address", TEXT, (c) => c.notNull().unique())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("request_id", TEXT, (c) => c.notNull().references("requests.id"))
    .addColumn("type", TEXT, (c) => c.notNull())
    .addColumn("hosting", TEXT, (c) => c.notNull())
    .addColumn("name", TEXT, (c) => c.notNull())
    .addColumn("symbol", TEXT, (c) => c.notNull())
    .addColumn("max_supply", INT)
    .addColumn("soulbound", "integer", (c) => c.notNull())
    .addColumn("minted", INT, (c) => c.notNull())
    .addColumn("reserved", INT, (c) => c.notNull())
    .addColumn("owner", TEXT, (c) => c.notNull())
    .addColumn("base_uri", TEXT)
    .addColumn("collection_uri", TEXT)
    .addColumn("metadata", TEXT, (c) => c.notNull())
    .addColumn("service_may_mint", "integer", (c) => c.notNull())
    .addColumn("service_is_steward", "integer", (c) => c.notNull())
    .addColumn("metadata_frozen", "integer", (c) => c.notNull())
    .addColumn("listed", "integer", (c) => c.notNull())
    .addColumn("block_number", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await index("collections_app", "collections", ["app_id", "listed", "seq"]);
  await partialIndex("collections_unlisted", "collections (block_number)", "listed = 0");
  await numbered(create("nfts"), "seq")
    .addColumn("contract", TEXT, (c) => c.notNull())
    .addColumn("token_id", TEXT, (c) => c.notNull())
    .addColumn("request_id", TEXT, (c) => c.references("requests.id"))
    .addColumn("supply", TEXT, (c) => c.notNull())
    .addColumn("reserved", TEXT, (c) => c.notNull())
    .addColumn("token_uri", TEXT)
    .addColumn("metadata", TEXT)
    .addColumn("minted_block", INT)
    .addColumn("minted_at", INT)
    .execute();
  await uniqueIndex("nfts_token", "nfts", ["contract", "token_id"]);
  await index("nfts_minted", "nfts", ["minted_block"]);
  await partialIndex("nfts_reserved", "nfts (contract)", "minted_block is null");
  await partialIndex("nfts_listed", "nfts (contract, seq)", "minted_block is not null and supply <> '0'");
  await numbered(create("holdings"), "seq")
    .addColumn("contract", TEXT, (c) => c.notNull())
    .addColumn("token_id", TEXT, (c) => c.notNull())
    .addColumn("owner", TEXT, (c) => c.notNull())
    .addColumn("quantity", TEXT, (c) => c.notNull())
    .addColumn("reserved", TEXT, (c) => c.notNull())
    .addColumn("since_block", INT, (c) => c.notNull())
    .execute();
  await uniqueIndex("holdings_token_owner", "holdings", ["contract", "token_id", "owner"]);
  await index("holdings_token", "holdings", ["contract", "token_id", "seq"]);
  await index("holdings_block", "holdings", ["since_block"]);
  await index("holdings_owner", "holdings", ["owner", "seq"]);
  await index("holdings_owner_contract", "holdings", ["owner", "contract", "seq"]);
}

async function createHistory({ TEXT, create, index, numbered, uniqueIndex }: SchemaKit): Promise<void> {
  await create("blocks")
    .addColumn("number", INT, (c) => c.primaryKey())
    .addColumn("hash", TEXT, (c) => c.notNull())
    .addColumn("parent_hash", TEXT, (c) => c.notNull())
    .addColumn("timestamp", INT, (c) => c.notNull())
    .execute();
  await numbered(create("transfers"), "id")
    .addColumn("contract", TEXT, (c) => c.notNull())
    .addColumn("token_id", TEXT, (c) => c.notNull())
    .addColumn("type", TEXT, (c) => c.notNull())
    .addColumn("quantity", TEXT, (c) => c.notNull())
    .addColumn("from_address", TEXT)
    .addColumn("to_address", TEXT)
    .addColumn("transaction_hash", TEXT, (c) => c.notNull())
    .addColumn("block_number", INT, (c) => c.notNull())
    .addColumn("log_index", "integer", (c) => c.notNull())
    .addColumn("sub_index", "integer", (c) => c.notNull())
    .addColumn("timestamp", INT, (c) => c.notNull())
    .addColumn("request_id", TEXT, (c) => c.references("requests.id"))
    .execute();
  await uniqueIndex("transfers_log", "transfers", ["block_number", "log_index", "sub_index"]);
  await index("transfers_token", "transfers", ["contract", "token_id", "id"]);
  await create("wallet_history")
    .addColumn("wallet", TEXT, (c) => c.notNull())
    .addColumn("transfer_id", INT, (c) => c.notNull().references("transfers.id").onDelete("cascade"))
    .addPrimaryKeyConstraint("wallet_history_pk", ["wallet", "transfer_id"])
    .execute();
  await index("wallet_history_transfer", "wallet_history", ["transfer_id"]);
  await numbered(create("chain_edits"), "id")
    .addColumn("contract", TEXT, (c) => c.notNull())
    .addColumn("token_id", TEXT)
    .addColumn("column", TEXT, (c) => c.notNull())
    .addColumn("previous", TEXT, (c) => c.notNull())
    .addColumn("block_number", INT, (c) => c.notNull())
    .execute();
  await index("chain_edits_block", "chain_edits", ["block_number"]);
}

/** Contracts that the service did not deploy. */
async function createContracts({ TEXT, create, index, numbered, partialIndex, ...kit }: SchemaKit) {
  await create("foreign_contracts")
    .addColumn("address", TEXT, (c) => c.primaryKey())
    .addColumn("type", TEXT)
    .addColumn("name", TEXT)
    .addColumn("state", TEXT, (c) => c.notNull())
    .addColumn("reason", TEXT)
    .addColumn("due_at", INT)
    .addColumn("as_of", INT)
    .addColumn("failures", "integer", (c) => c.notNull())
    .addColumn("quarantines", "integer", (c) => c.notNull())
    .addColumn("released_at", INT)
    .addColumn("window_from", INT, (c) => c.notNull())
    .addColumn("window_logs", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await partialIndex("foreign_contracts_as_of", "foreign_contracts (as_of)", "as_of is not null");
  await partialIndex("foreign_contracts_due", "foreign_contracts (due_at)", "due_at is not null");
  await numbered(create("contract_follows"), "seq")
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("address", TEXT, (c) => c.notNull())
    .addColumn("followed_from", INT, (c) => c.notNull())
    .addColumn("ended_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await kit.uniquePartialIndex("contract_follows_open", "contract_follows (app_id, address)", "ended_at is null");
  await index("contract_follows_app", "contract_follows", ["app_id", "seq"]);
  await index("contract_follows_from", "contract_follows", ["followed_from"]);
  await index("contract_follows_address", "contract_follows", ["address"]);
  await create("contract_reads")
    .addColumn("contract", TEXT, (c) => c.notNull())
    .addColumn("owner", TEXT, (c) => c.notNull())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("search", "integer", (c) => c.notNull())
    .addColumn("complete_to", INT)
    .addColumn("due_at", INT)
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("fence", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("contract_reads_pk", ["contract", "owner"])
    .execute();
  await partialIndex("contract_reads_due", "contract_reads (due_at)", "due_at is not null");
  await index("contract_reads_complete", "contract_reads", ["complete_to"]);
  await index("contract_reads_app", "contract_reads", ["app_id", "contract"]);
  await create("read_rates")
    .addColumn("app_id", TEXT, (c) => c.primaryKey().references("apps.id"))
    .addColumn("minute", INT, (c) => c.notNull())
    .addColumn("used", INT, (c) => c.notNull())
    .execute();
  await create("uncertain_holdings")
    .addColumn("contract", TEXT, (c) => c.notNull())
    .addColumn("token_id", TEXT, (c) => c.notNull())
    .addColumn("owner", TEXT, (c) => c.notNull())
    .addColumn("block", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("uncertain_holdings_pk", ["contract", "owner", "token_id"])
    .execute();
}

/** Facts, counters, apps, their tokens and wallets. */
async function createAccounts({ TEXT, create, index, numbered, uniqueIndex }: SchemaKit): Promise<void> {
  await create("meta")
    .addColumn("key", TEXT, (c) => c.primaryKey())
    .addColumn("value", TEXT, (c) => c.notNull())
    .execute();
  await create("counters")
    .addColumn("key", TEXT, (c) => c.notNull())
    .addColumn("slot", "integer", (c) => c.notNull())
    .addColumn("value", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("counters_pk", ["key", "slot"])
    .execute();
  await create("apps")
    .addColumn("id", TEXT, (c) => c.primaryKey())
    .addColumn("name", TEXT, (c) => c.notNull().unique())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("quota_media_bytes", INT)
    .addColumn("quota_media_requests", INT)
    .addColumn("quota_wallets", INT)
    .execute();
  await create("api_tokens")
    .addColumn("id", TEXT, (c) => c.primaryKey())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("name", TEXT, (c) => c.notNull())
    .addColumn("hash", TEXT, (c) => c.notNull().unique())
    .addColumn("scopes", TEXT, (c) => c.notNull())
    .addColumn("expires_at", INT)
    .addColumn("revoked_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await index("api_tokens_app", "api_tokens", ["app_id"]);
  await numbered(create("wallets"), "seq")
    .addColumn("address", TEXT, (c) => c.notNull().unique())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("user_identifier", TEXT)
    .addColumn("path", TEXT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await uniqueIndex("wallets_user", "wallets", ["app_id", "user_identifier"]);
  await index("wallets_app", "wallets", ["app_id", "seq"]);
  await create("gas_usage")
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("day", INT, (c) => c.notNull())
    .addColumn("used", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("gas_usage_pk", ["app_id", "day"])
    .execute();
  await create("idempotency_keys")
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("key", TEXT, (c) => c.notNull())
    .addColumn("fingerprint", TEXT, (c) => c.notNull())
    .addColumn("response", TEXT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("idempotency_keys_pk", ["app_id", "key"])
    .execute();
  await index("idempotency_keys_age", "idempotency_keys", ["created_at"]);
}
