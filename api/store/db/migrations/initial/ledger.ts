import { INT, type SchemaKit } from "./kit.ts";

/** What the chain says. */
export async function createLedger(kit: SchemaKit): Promise<void> {
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
