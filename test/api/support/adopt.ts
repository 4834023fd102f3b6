import { createAdoptables } from "../../../api/chain/adoptable.ts";
import { ChainClient } from "../../../api/chain/client.ts";
import { storedAddresses } from "../../../api/chain/contracts.ts";
import { adoptCollection } from "../../../api/commands/adopt-collection.ts";
import { FOREIGN_CALL_GAS } from "../../../api/config/limits.ts";
import { readContracts } from "../../../api/store/db/meta.ts";
import { compareCounters } from "../../../api/store/reconcile/compare.ts";
import { eventually } from "../../support/eventually.ts";
import type { ServiceFixture } from "../../support/service.ts";

/** The operator adopts a contract for an app, without a signature. @param appId by default the one of the fixture. */
export async function adoptAllowed(
  moneta: ServiceFixture,
  address: string,
  { appId = moneta.app.appId, fromBlock = null }: { appId?: string; fromBlock?: number | null } = {},
): Promise<void> {
  const { database } = moneta.service;
  const contracts = await readContracts(database.read, storedAddresses);
  if (contracts === null) throw new Error("no contracts are stored");
  const client = new ChainClient(moneta.node.url);
  const adoptables = createAdoptables(client, { chainId: await client.chainId(), contracts }, FOREIGN_CALL_GAS);
  const signals = { contracts: { notify: () => undefined } };
  const deps = { database, adoptables, signals, settings: { limits: { contracts: 100 } } };
  await adoptCollection(deps, appId, { address, fromBlock }, null);
}

export function foreignRow({ service }: ServiceFixture, address: string) {
  return service.database.read
    .selectFrom("foreign_contracts")
    .selectAll()
    .where("address", "=", address)
    .executeTakeFirstOrThrow();
}

/** Waits until an adopted contract is read up to the head of the chain. */
export async function readBack(moneta: ServiceFixture, address: string): Promise<void> {
  await moneta.caughtUp();
  await eventually(async () => ((await foreignRow(moneta, address)).state === "followed" ? true : undefined));
  await moneta.caughtUp();
}

/** All holders of a contract that are stored: `<token id> <owner> <quantity>`, sorted. */
export async function holdersOf({ service }: ServiceFixture, address: string): Promise<string[]> {
  const rows = await service.database.read
    .selectFrom("holdings")
    .select(["token_id", "owner", "quantity"])
    .where("contract", "=", address)
    .execute();
  return rows.map((row) => `${row.token_id} ${row.owner} ${row.quantity}`).sort();
}

/** The totals that differ from their rows. */
export function wrongTotals({ service }: ServiceFixture) {
  return service.database.write((trx) => compareCounters(trx, false));
}
