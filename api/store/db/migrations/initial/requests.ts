import { INT, type SchemaKit } from "./kit.ts";

/** Requests, and the transactions that they are sent in. */
export async function createRequests(kit: SchemaKit): Promise<void> {
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
