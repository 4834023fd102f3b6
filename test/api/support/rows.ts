import { randomBytes, randomUUID } from "node:crypto";

import { getAddress, hexlify } from "ethers";

import type { ContractAddresses } from "../../../api/chain/contracts.ts";
import type { CollectionType, Command, CreateCollection, MintErc721 } from "../../../api/domain/command.ts";
import type { RequestType } from "../../../api/domain/request.ts";
import { addToCounter, counterKeys } from "../../../api/store/db/counters.ts";
import type { Database } from "../../../api/store/db/database.ts";
import type { WebhookKey } from "../../../api/store/db/schema.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { insertCollections } from "../../../api/store/listings/collections.ts";
import type { MoveKind, SliceToStore } from "../../../api/store/ledger/apply-range.ts";
import type { StoredMove } from "../../../api/store/ledger/history.ts";
import { insertDeliveries } from "../../../api/store/outbox/deliveries.ts";
import { insertWebhook, type StoredWebhook } from "../../../api/store/outbox/webhooks.ts";
import {
  type ReservationRefusal,
  ReservationSet,
  type ReservingCommand,
} from "../../../api/store/requests/reservation-set.ts";
import { findRequest, insertRequest, type StoredRequest } from "../../../api/store/requests/requests.ts";

export const APP = "app-1";
export const WEBHOOK_URL = "https://app.example/";

export function randomContracts(): ContractAddresses {
  const factories = [{ storage: "compact", signedBurns: true, address: randomAddress() }] as const;
  return { relay: randomAddress(), factories, delegate: randomAddress(), deployedAt: 0 };
}

export function randomAddress(): string {
  return getAddress(hexlify(randomBytes(20)));
}

/** A hash that is the same for the same words. */
export function hashOf(words: string): string {
  return `0x${Buffer.from(words).toString("hex").padStart(64, "0")}`;
}

export async function addApp(database: Database, id = APP): Promise<string> {
  await database.write((trx) => trx.insertInto("apps").values({ id, name: id, created_at: 1 }).execute());
  return id;
}

export async function addRequest(
  database: Database,
  command: Command,
  options: { app?: string; now?: number } = {},
): Promise<StoredRequest> {
  const id = randomBytes(32).toString("hex");
  const type: RequestType =
    command.kind === "create-collection" ? "collection" : command.kind === "transfer" ? "transfer" : "mint";
  await database.write((trx) =>
    insertRequest(trx, {
      id,
      appId: options.app ?? APP,
      type,
      command,
      unlockable: null,
      collection: null,
      tokenId: null,
      now: options.now ?? 1,
    }),
  );
  return requestRow(database, id);
}

export async function requestRow(database: Database, id: string): Promise<StoredRequest> {
  const row = await findRequest(database.read, null, id);
  if (row === undefined) throw new Error(`no request ${id}`);
  return row;
}

export function creation(fields: Partial<CreateCollection> = {}): CreateCollection {
  return {
    kind: "create-collection",
    type: "ERC721",
    hosting: "hosted",
    name: "Collection",
    symbol: "COL",
    maxSupply: null,
    baseUri: null,
    collectionUri: null,
    metadata: {},
    newOwner: null,
    soulbound: false,
    ...fields,
  };
}

/** A mint of an ERC721 token, by default to a stranger. */
export function mintOf(collection: string, to = randomAddress()): MintErc721 {
  return { kind: "mint-erc721", collection, to, metadata: null };
}

interface CollectionState {
  app?: string;
  listed?: boolean;
  mayMint?: boolean;
  /** Whether the service may still announce and freeze. */
  steward?: boolean;
  /** Whether it has `burnWithAuthorization`. */
  signedBurns?: boolean;
  block?: number;
}

/** A collection on chain, with the completed request that created it. It is listed by default. @returns its address. */
export async function addCollection(
  database: Database,
  fields: Partial<CreateCollection> = {},
  { app = APP, listed = true, mayMint = true, steward = true, block = 0, signedBurns = true }: CollectionState = {},
): Promise<string> {
  const command = creation(fields);
  const request = await addRequest(database, command, { app });
  const [address, owner] = [randomAddress(), randomAddress()];
  const kind = { storage: "compact", signedBurns } as const;
  const made = { address, owner, kind, blockNumber: block, createdAt: 1_700_000_000_000 };
  await database.write(async (trx) => {
    await trx
      .updateTable("requests")
      .set({ status: "completed", ready_at: null })
      .where("id", "=", request.id)
      .execute();
    await addToCounter(trx, counterKeys.backlog(), -1);
    await addToCounter(trx, counterKeys.backlogOfApp(app), -1);
    await addToCounter(trx, counterKeys.requests(app, "pending", "collection"), -1);
    await addToCounter(trx, counterKeys.requests(app, "completed", "collection"), 1);
    await insertCollections(trx, [{ request, command, ...made }]);
    await trx
      .updateTable("collections")
      .set({ listed: Number(listed), service_may_mint: Number(mayMint), service_is_steward: Number(steward) })
      .where("address", "=", made.address)
      .execute();
    if (listed) await addToCounter(trx, counterKeys.collections(app), 1);
  });
  return made.address;
}

let logs = 0;

export function moveOf(
  fields: Pick<StoredMove, "contract" | "tokenId" | "from" | "to"> & Partial<StoredMove>,
): StoredMove {
  logs += 1;
  return {
    quantity: "1",
    transactionHash: hashOf(`transaction ${logs.toString()}`),
    blockNumber: 1,
    logIndex: logs,
    subIndex: 0,
    timestamp: 1_000,
    requestId: null,
    ...fields,
  };
}

/** A move as a slice contains it. By default it is of a collection of the service, and no request made it. */
export function entryOf(
  type: CollectionType,
  fields: Parameters<typeof moveOf>[0],
  more: { kind?: MoveKind; mintedBy?: StoredRequest | null } = {},
): SliceToStore["entries"][number] {
  return { move: moveOf(fields), type, kind: "own", mintedBy: null, ...more };
}

/** Reserves what one request needs, as a group of one. */
export async function reserve(
  trx: Trx,
  requestId: string,
  command: ReservingCommand,
): Promise<"ok" | ReservationRefusal> {
  const set = await ReservationSet.read(trx, [command]);
  const result = set.take(requestId, command);
  await set.store(trx);
  return result;
}

/** A request with its reservation. */
export async function addReserved(database: Database, command: Command & ReservingCommand): Promise<StoredRequest> {
  const request = await addRequest(database, command);
  await database.write((trx) => reserve(trx, request.id, command));
  return request;
}

/** Names the first webhook of an app. */
export function firstOf(app: string): WebhookKey {
  return { id: app, app_id: app };
}

/** A webhook of an app, by default the first, which gets the default events. */
export function addWebhook(
  database: Database,
  app: string,
  now: number,
  fields: Partial<StoredWebhook> = {},
): Promise<unknown> {
  const webhook = { ...firstOf(app), url: WEBHOOK_URL, secrets: "sealed", events: null, collections: null };
  const rest = { description: null, disabled_at: null, created_at: now, updated_at: now };
  return database.write((trx) => insertWebhook(trx, { ...webhook, ...rest, ...fields }));
}

/** Adds test events of an app, each with a delivery that is due, as the service adds one. */
export async function addTestEvents(trx: Trx, app: string, count: number, now: number): Promise<void> {
  const fields = { app_id: app, position: null, request_id: null, type: "test", body: "{}", created_at: now } as const;
  const events = await trx
    .insertInto("events")
    .values(Array.from({ length: count }, () => ({ id: randomUUID(), ...fields })))
    .returning(["seq", "app_id", "request_id"])
    .execute();
  const rest = { webhook_id: app, subject: null };
  await insertDeliveries(
    trx,
    events.map(({ seq, ...event }) => ({ ...event, ...rest, event_seq: seq })),
    now,
  );
}
