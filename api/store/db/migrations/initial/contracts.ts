import { INT, type SchemaKit } from "./kit.ts";

/** Contracts that the service did not deploy. */
export async function createContracts({ TEXT, create, index, numbered, partialIndex, ...kit }: SchemaKit) {
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
