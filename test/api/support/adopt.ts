import { type Signer, ZeroAddress } from "ethers";

import { createAdoptables } from "../../../api/chain/adoptable.ts";
import { ChainClient } from "../../../api/chain/client.ts";
import { storedAddresses } from "../../../api/chain/contracts.ts";
import { adoptCollection } from "../../../api/commands/adopt-collection.ts";
import { FOREIGN_CALL_GAS } from "../../../api/config/limits.ts";
import type { CollectionType } from "../../../api/domain/command.ts";
import { readContracts } from "../../../api/store/db/meta.ts";
import { adoptContract } from "../../../api/store/ledger/adoptions.ts";
import { compareCounters } from "../../../api/store/reconcile/compare.ts";
import type { Shape } from "../../../client/client.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import type { ServiceFixture } from "../../support/service.ts";

/** A change of the text that is signed, not of what is sent. */
export interface ChangedText {
  domain?: Record<string, unknown>;
  message?: Record<string, unknown>;
}

/** What `POST /v1/collections/adopt` takes: an app's text, with an account's signature. */
export async function signedAdoption(api: ApiClient, address: string, by: Signer, change: ChangedText = {}) {
  const asked = await api.ok<Shape<"TypedText">>("POST", "/v1/collections/adopt/text", { address });
  const { EIP712Domain: _domain, ...types } = asked.types as Record<string, { name: string; type: string }[]>;
  const message = { ...asked.message, ...change.message };
  const signature = await by.signTypedData({ ...asked.domain, ...change.domain }, types, message);
  return { address, nonce: asked.message["nonce"], expiry: Number(message["expiry"]), signature };
}

/** The operator adopts a contract for an app, without a signature. @param appId by default the one of the fixture. */
export async function adoptAllowed(
  moneta: ServiceFixture,
  address: string,
  options: { appId?: string; fromBlock?: number | null; most?: number } = {},
): Promise<void> {
  const { appId = moneta.app.appId, fromBlock = null, most = 100 } = options;
  const { database } = moneta.service;
  const contracts = await readContracts(database.read, storedAddresses);
  if (contracts === null) throw new Error("no contracts are stored");
  const client = new ChainClient(moneta.node.url);
  const adoptables = createAdoptables(client, { chainId: await client.chainId(), contracts }, FOREIGN_CALL_GAS);
  // The service polls for what other processes adopt.
  const signals = { contracts: { notify: () => undefined } };
  const deps = { database, adoptables, signals, settings: { limits: { contracts: most } } };
  await adoptCollection(deps, appId, { address, fromBlock }, null);
}

export function foreignRow({ service }: Pick<ServiceFixture, "service">, address: string) {
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
export async function holdersOf({ service }: Pick<ServiceFixture, "service">, address: string): Promise<string[]> {
  const rows = await service.database.read
    .selectFrom("holdings")
    .select(["token_id", "owner", "quantity"])
    .where("contract", "=", address)
    .execute();
  return rows.map((row) => `${row.token_id} ${row.owner} ${row.quantity}`).sort();
}

/** The totals that differ from their rows. */
export function wrongTotals({ service }: Pick<ServiceFixture, "service">) {
  return service.database.write((trx) => compareCounters(trx, false));
}

/** Milliseconds for which nobody reads a contract that was adopted with `adoptUnread`. */
const UNREAD = 3_600_000;

/** Adopts a contract whose past nobody reads until `readNow`. */
export function adoptUnread(moneta: ServiceFixture, address: string, type: CollectionType): Promise<unknown> {
  const described = { address, type, name: "Unread", symbol: "", owner: ZeroAddress, totalSupply: null, block: 1 };
  const due_at = Date.now() + UNREAD;
  return moneta.service.database.write(async (trx) => {
    await adoptContract(trx, moneta.app.appId, described, { firstBlock: 1, most: 100, now: 1 });
    await trx.updateTable("foreign_contracts").set({ due_at }).where("address", "=", address).execute();
  });
}

/** From now on it is read, whatever it waits for. */
export function readNow({ service }: Pick<ServiceFixture, "service">, address: string): Promise<unknown> {
  return service.database.write((trx) =>
    trx.updateTable("foreign_contracts").set({ due_at: 1 }).where("address", "=", address).execute(),
  );
}
