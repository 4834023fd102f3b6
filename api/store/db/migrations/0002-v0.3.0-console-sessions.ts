import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** The console's links and sessions. `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, index } = schemaKit(db);
  await create("console_sessions")
    .addColumn("id", TEXT, (c) => c.primaryKey())
    .addColumn("app_id", TEXT, (c) => c.references("apps.id"))
    .addColumn("scopes", TEXT, (c) => c.notNull())
    .addColumn("code_hash", TEXT, (c) => c.notNull().unique())
    .addColumn("hash", TEXT, (c) => c.unique())
    .addColumn("created_at", INT, (c) => c.notNull())
    .addColumn("signed_in_at", INT)
    .addColumn("expires_at", INT, (c) => c.notNull())
    .addColumn("used_at", INT)
    .addColumn("revoked_at", INT)
    .execute();
  await index("console_sessions_app", "console_sessions", ["app_id"]);
  await index("console_sessions_created", "console_sessions", ["created_at", "id"]);
  await index("console_sessions_end", "console_sessions", ["expires_at"]);
}
