import type { Kysely } from "kysely";

import { createAccounts } from "./initial/accounts.ts";
import { createContracts } from "./initial/contracts.ts";
import { schemaKit } from "./initial/kit.ts";
import { createLedger } from "./initial/ledger.ts";
import { createMedia } from "./initial/media.ts";
import { createOutbox } from "./initial/outbox.ts";
import { createProcesses } from "./initial/processes.ts";
import { createRequests } from "./initial/requests.ts";

/** Every table. `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const kit = schemaKit(db);
  await createAccounts(kit);
  await createRequests(kit);
  await createLedger(kit);
  await createContracts(kit);
  await createMedia(kit);
  await createOutbox(kit);
  await createProcesses(kit);
  // Counters are updated in place; half of each page is free for the new versions of its rows.
  await kit.busy("counters", 50);
  await kit.busy("requests", 80);
  await kit.busy("media_jobs", 80);
  await kit.busy("deliveries", 80);
  await kit.busy("leases", 50);
}
