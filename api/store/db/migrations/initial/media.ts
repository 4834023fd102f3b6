import { INT, type SchemaKit } from "./kit.ts";

/** Hosted content and its jobs. */
export async function createMedia({ TEXT, create, index, numbered, partialIndex }: SchemaKit): Promise<void> {
  await create("media")
    .addColumn("cid", TEXT, (c) => c.primaryKey())
    .addColumn("type", TEXT, (c) => c.notNull())
    .addColumn("size", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
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
}
