import { INT, type SchemaKit } from "./kit.ts";

/** Facts, counters, apps, their tokens and wallets. */
export async function createAccounts({ TEXT, create, index, numbered, uniqueIndex }: SchemaKit): Promise<void> {
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
