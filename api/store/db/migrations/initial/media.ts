import { INT, type SchemaKit } from "./kit.ts";

/** Hosted content and its jobs. */
export async function createMedia(kit: SchemaKit): Promise<void> {
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
