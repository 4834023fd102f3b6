import { type Kysely, sql } from "kysely";

import { INT, type SchemaKit, schemaKit } from "./kit.ts";

/**
 * An app has several webhooks. The one that an app has already is its first: its id is that of the app, so that its secrets,
 * which are encrypted for that id, and the counter of its deliveries stay valid.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const kit = schemaKit(db);
  await createWebhooks(db, kit);
  const deliveries = () => db.schema.alterTable("deliveries");
  await deliveries()
    .addColumn("webhook_id", kit.TEXT, (c) => c.notNull().defaultTo(""))
    .execute();
  await deliveries().addColumn("subject", kit.TEXT).execute();
  await sql`update deliveries set webhook_id = app_id, subject = request_id`.execute(db);
  await indexDeliveries(db, kit);
}

/** SQLite cannot change a primary key, so the tables are made anew. */
async function createWebhooks(db: Kysely<unknown>, { TEXT, create, index }: SchemaKit): Promise<void> {
  for (const table of ["webhooks", "abandoned_deliveries"])
    await sql`alter table ${sql.table(table)} rename to ${sql.table(`${table}_0001`)}`.execute(db);
  await create("webhooks")
    .addColumn("id", TEXT, (c) => c.notNull())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("url", TEXT, (c) => c.notNull())
    .addColumn("secrets", TEXT, (c) => c.notNull())
    .addColumn("events", TEXT)
    .addColumn("collections", TEXT)
    .addColumn("description", TEXT)
    .addColumn("disabled_at", INT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("updated_at", INT, (c) => c.notNull())
    // PostgreSQL still has the names of the old tables' keys.
    .addPrimaryKeyConstraint("webhooks_key", ["id"])
    .execute();
  await sql`
    insert into webhooks (id, app_id, url, secrets, events, disabled_at, created_at, updated_at)
    select app_id, app_id, url, secrets, events, disabled_at, created_at, updated_at from webhooks_0001`.execute(db);
  await create("abandoned_deliveries")
    .addColumn("webhook_id", TEXT, (c) => c.notNull())
    .addColumn("app_id", TEXT, (c) => c.notNull().references("apps.id"))
    .addColumn("up_to_seq", INT, (c) => c.notNull())
    .addColumn("reason", TEXT, (c) => c.notNull())
    .addPrimaryKeyConstraint("abandoned_deliveries_key", ["webhook_id"])
    .execute();
  await sql`
    insert into abandoned_deliveries (webhook_id, app_id, up_to_seq, reason)
    select app_id, app_id, up_to_seq, reason from abandoned_deliveries_0001`.execute(db);
  for (const table of ["webhooks", "abandoned_deliveries"]) await db.schema.dropTable(`${table}_0001`).execute();
  await index("webhooks_app", "webhooks", ["app_id"]);
}

/** The queues, the order and the listings are those of a webhook. */
async function indexDeliveries(db: Kysely<unknown>, { index, partialIndex }: SchemaKit): Promise<void> {
  for (const name of ["app", "request", "waiting", "failed", "due"])
    await db.schema.dropIndex(`deliveries_${name}`).execute();
  await index("deliveries_webhook", "deliveries", ["app_id", "webhook_id", "seq"]);
  await partialIndex("deliveries_order", "deliveries (webhook_id, subject, seq)", "status = 'pending'");
  await partialIndex("deliveries_waiting", "deliveries (webhook_id, seq)", "status = 'pending'");
  await partialIndex("deliveries_failed", "deliveries (webhook_id, seq)", "status = 'failed'");
  await partialIndex("deliveries_due", "deliveries (webhook_id, next_at, seq)", "next_at is not null");
}
