import { INT, type SchemaKit } from "./kit.ts";

/** Events and their deliveries. */
export async function createOutbox({
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
