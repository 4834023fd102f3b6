import { INT, type SchemaKit } from "./kit.ts";

/** What several processes of one installation share: leases, who runs, and calls counted for rate limits. */
export async function createProcesses({ TEXT, create, index }: SchemaKit): Promise<void> {
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
