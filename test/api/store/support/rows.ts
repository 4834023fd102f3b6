import { randomBytes } from "node:crypto";

import { getAddress, hexlify } from "ethers";

import type { Command, CreateCollection } from "../../../../api/domain/command.ts";
import type { RequestType } from "../../../../api/domain/request.ts";
import { applyRange, type BlockRange } from "../../../../api/store/ledger/apply-range.ts";
import { addToCounter, counterKeys } from "../../../../api/store/db/counters.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { insertCollection } from "../../../../api/store/listings/collections.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import type { StoredMove } from "../../../../api/store/ledger/history.ts";
import { findRequest, insertRequest } from "../../../../api/store/requests/requests.ts";
import type { StoredRequest } from "../../../../api/store/requests/stored-request.ts";

export const APP = "app-1";

export function address(): string {
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
    ...fields,
  };
}

/** A collection that is on chain since block 0 and listed. @returns its address. */
export async function addCollection(database: Database, fields: Partial<CreateCollection> = {}): Promise<string> {
  const command = creation(fields);
  const request = await addRequest(database, command);
  const made = { address: address(), owner: address(), blockNumber: 0, createdAt: 1 };
  await database.write(async (trx) => {
    await trx
      .updateTable("requests")
      .set({ status: "completed", ready_at: null })
      .where("id", "=", request.id)
      .execute();
    await addToCounter(trx, counterKeys.requests(APP, "pending", "collection"), -1);
    await addToCounter(trx, counterKeys.requests(APP, "completed", "collection"), 1);
    await insertCollection(trx, request, command, made);
    await trx.updateTable("collections").set({ listed: 1 }).where("address", "=", made.address).execute();
  });
  return made.address;
}

/** What the blocks of one range say; what is not given, they do not say. */
export type RangeFields = Partial<BlockRange> & { block: number; fork?: string };

/** One block as a range. `fork` names the chain that it is on: another name, another block. */
export function rangeOf({ block, fork = "main", ...fields }: RangeFields): BlockRange {
  return {
    from: block,
    to: block,
    parentHash: hashOf(`${fork} ${(block - 1).toString()}`),
    blocks: [
      {
        number: block,
        hash: hashOf(`${fork} ${block.toString()}`),
        parent_hash: hashOf(`${fork} ${(block - 1).toString()}`),
        timestamp: block * 1000,
      },
    ],
    batches: [],
    moves: [],
    changes: [],
    foreignHoldings: [],
    wallets: new Set(),
    confirmed: 0,
    forgetBlocksBefore: 0,
    ...fields,
  };
}

/** Stores one block. @returns whether it was taken. */
export function apply(database: Database, fields: RangeFields): Promise<boolean> {
  return database.write((trx) => applyRange(trx, rangeOf(fields), { relayOwner: "0xowner" }, fields.block * 1000));
}

export async function startAtBlock(database: Database, block: number): Promise<void> {
  await database.write((trx) => writeMeta(trx, "checkpoint", block.toString()));
  await database.write((trx) => writeMeta(trx, "confirmed_block", "0"));
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
