import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { decodeExecute } from "../chain/codec/decode-call.ts";
import type { CollectionEvent, RelayEvent } from "../chain/codec/decode.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import type { CollectionType } from "../domain/command.ts";
import { frozenUris } from "../domain/metadata-files.ts";
import type { TokenMove } from "../domain/token.ts";
import { walletApps } from "../store/apps/wallets.ts";
import type { Database } from "../store/db/database.ts";
import type { AttributedSlice } from "../store/ledger/apply-range.ts";
import type { ChainEdit } from "../store/ledger/chain-edits.ts";
import { followsAt, type IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { FROZEN } from "../store/requests/freezing.ts";
import { type NumberedRequest, requestsByNumber } from "../store/requests/requests.ts";
import { batchesByHash, batchRequests } from "../store/sending/batches.ts";
import { attribute, AttributionError } from "./attribute.ts";
import { movesToStore, partiesAmong } from "./foreign-moves.ts";
import { byPosition, type ChainRange } from "./read-range.ts";

interface AttributeDeps {
  database: Database;
  client: Pick<ChainClient, "transactions">;
  contracts: ContractAddresses;
  logger: Logger;
}

/** The request of each move that a batch made. */
export type Owners = Map<TokenMove, NumberedRequest>;

/**
 * Joins a range of the chain with the database: finds the service's batches, tokens and wallets, and the request that each
 * event belongs to. What only a node can say of them is added later: see `addNodeFacts`.
 * @returns `collections`: the service's at the end of the range, with those that it creates.
 */
export async function attributeRange(
  deps: AttributeDeps,
  range: ChainRange,
): Promise<{ attributed: AttributedSlice; owners: Owners; collections: IndexedContracts["collections"] }> {
  const { database, contracts } = deps;
  const { from, to, remember, headers } = range;
  const apps = await walletApps(database.read, partiesAmong(range));
  const moves = [...range.moves, ...movesToStore(range, apps)].sort(byPosition);
  const { batches, owners, stops } = await ourBatches(deps, range, moves);
  const collections = new Map([...range.indexed.collections, ...batches.flatMap(createdBy)]);
  const attributed = {
    from,
    to,
    parentHash: headers.get(from)?.parentHash ?? "",
    forgetBlocksBefore: remember,
    blocks: [...headers.values()]
      .filter(({ number }) => number >= remember)
      .map(({ number, hash, parentHash, timestamp }) => ({
        number,
        hash,
        parent_hash: parentHash,
        timestamp: timestamp * 1000,
      })),
    batches,
    cancelled: await cancelledRequests(database, range.relay),
    entries: moves.flatMap((move) => entryOf({ range, collections, apps, owners }, move)),
    edits: [...range.changes.flatMap((event) => changeOf(event, contracts)), ...batches.flatMap(frozenBy)],
    mintingStops: stops,
    kinds: new Map(range.created.map(({ collection, factory }) => [collection, factory])),
    wallets: new Set(apps.keys()),
  };
  return { attributed, owners, collections };
}

/** The same for blocks of which only logs of foreign contracts were read, and no request is looked for. */
export async function attributePast(
  { read }: Database,
  range: ChainRange,
): Promise<Pick<AttributedSlice, "entries" | "wallets">> {
  const apps = await walletApps(read, partiesAmong(range));
  const joined = { range, collections: range.indexed.collections, apps, owners: new Map<never, never>() };
  const entries = movesToStore(range, apps).flatMap((move) => entryOf(joined, move));
  return { entries, wallets: new Set(apps.keys()) };
}

/** The service's own transactions in a range, with the outcome of each call. */
async function ourBatches(
  { database, client, logger }: AttributeDeps,
  { relay, created, headers, indexed, flooding }: ChainRange,
  moves: readonly TokenMove[],
): Promise<{ batches: AttributedSlice["batches"]; owners: Owners; stops: AttributedSlice["mintingStops"][number][] }> {
  const byTransaction = Map.groupBy(relay, (event: RelayEvent) => event.transactionHash);
  // The chain was read first: a lane commits a transaction to the database before it sends it.
  const known = await batchesByHash(database.read, [...byTransaction.keys()]);
  const requests = await requestsOfBatches(database, client, known);
  const owners: Owners = new Map();
  const batches: AttributedSlice["batches"] = [];
  const stops: AttributedSlice["mintingStops"][number][] = [];
  const isRead = (contract: string) => indexed.foreign.get(contract)?.adopter != null && !flooding.has(contract);
  const byBatch = Map.groupBy(moves, (move) => (known.has(move.transactionHash) ? move.transactionHash : null));
  for (const [transactionHash, events] of byTransaction) {
    const batchId = known.get(transactionHash);
    const blockNumber = events[0]?.blockNumber;
    if (batchId === undefined || blockNumber === undefined) continue;
    const made = created.filter((one) => one.transactionHash === transactionHash);
    const logs = {
      relay: events,
      moves: byBatch.get(transactionHash) ?? [],
      created: new Map(made.map(({ number, collection }) => [number, collection])),
    };
    try {
      const attributed = attribute(requests.get(transactionHash) ?? [], logs, isRead);
      const { outcomes, untouched, owners: own } = attributed;
      stops.push(...attributed.stops);
      for (const [move, request] of own) owners.set(move, request);
      const timestamp = (headers.get(blockNumber)?.timestamp ?? 0) * 1000;
      batches.push({ batchId, transactionHash, blockNumber, timestamp, outcomes, untouched });
    } catch (error) {
      if (!(error instanceof AttributionError)) throw error;
      // Never guess: store nothing of this range until the node's answers are consistent.
      logger.error(
        { err: error, transactionHash },
        "the logs of a batch do not fit its requests: check the node; the range is read again",
      );
      throw error;
    }
  }
  return { batches, owners, stops };
}

/** The collections that a batch created, with their types. */
function createdBy({ outcomes }: AttributedSlice["batches"][number]): [string, CollectionType][] {
  return outcomes.flatMap(({ request: { command }, outcome }) =>
    command.kind === "create-collection" && outcome.ok && outcome.collection !== null
      ? [[outcome.collection, command.type]]
      : [],
  );
}

interface Joined {
  range: ChainRange;
  /** Types of the service's collections. */
  collections: ReadonlyMap<string, CollectionType>;
  /** The app of each wallet of the service. */
  apps: ReadonlyMap<string, string>;
  owners: Owners;
}

/** Of foreign contracts that are not adopted, keeps only the moves that concern wallets whose app follows the contract. */
function entryOf({ range, collections, apps, owners }: Joined, move: TokenMove): AttributedSlice["entries"] {
  const request = owners.get(move) ?? null;
  const timestamp = (range.headers.get(move.blockNumber)?.timestamp ?? 0) * 1000;
  const stored = { ...move, timestamp, requestId: request?.id ?? null };
  const mintedBy = move.from === null ? request : null;
  const own = collections.get(move.contract);
  if (own !== undefined) return [{ move: stored, type: own, kind: "own", mintedBy }];
  const foreign = range.indexed.foreign.get(move.contract);
  if (foreign === undefined) return [];
  const historyOf = [move.from, move.to].filter((end): end is string => {
    const app = end === null ? undefined : apps.get(end);
    return app !== undefined && followsAt(foreign, app, move.blockNumber);
  });
  const isAdopted = foreign.adopter !== null;
  if (historyOf.length === 0 && !isAdopted) return [];
  const kind = isAdopted ? "adopted" : "foreign";
  return [{ move: { ...stored, historyOf }, type: foreign.type, kind, mintedBy }];
}

/** The event for a new collection URI does not contain the URI, so it comes from the freeze request. */
function frozenBy(batch: AttributedSlice["batches"][number]): ChainEdit[] {
  return batch.outcomes.flatMap(({ request, outcome }) => {
    const { command } = request;
    if (command.kind !== "freeze-metadata" || command.directory === null || !outcome.ok) return [];
    const value = frozenUris(command.type, command.directory).collectionUri;
    return [
      { contract: command.collection, tokenId: null, column: "collection_uri", value, blockNumber: batch.blockNumber },
    ];
  });
}

function changeOf(event: CollectionEvent, contracts: ContractAddresses): ChainEdit[] {
  const { contract, blockNumber } = event;
  const collection = { contract, tokenId: null, blockNumber };
  switch (event.kind) {
    case "owner-changed":
      return [
        { ...collection, column: "owner", value: event.owner },
        // From now on the new owner announces and freezes metadata.
        { ...collection, column: "service_is_steward", value: 0 },
      ];
    case "minter-set":
      return event.minter === contracts.relay
        ? [{ ...collection, column: "service_may_mint", value: event.allowed ? 1 : 0 }]
        : [];
    case "cap-lowered":
      return [{ ...collection, column: "max_supply", value: event.maxSupply }];
    case "base-uri-changed":
      return [{ ...collection, column: "base_uri", value: event.baseUri }];
    case "metadata-frozen":
      return [{ ...collection, column: "metadata_frozen", value: FROZEN }];
    case "royalty-frozen":
      return [{ ...collection, column: "royalty_frozen", value: 1 }];
    case "token-uri-changed":
      return [{ contract, tokenId: event.tokenId, blockNumber, column: "token_uri", value: event.uri }];
  }
}

/** Requests whose number an operator or the owner of the relay has cancelled: no batch can run them any more. */
async function cancelledRequests(
  database: Database,
  events: readonly RelayEvent[],
): Promise<AttributedSlice["cancelled"]> {
  const cancelled = new Map(
    events.flatMap((event) => (event.kind === "number-cancelled" ? [[event.number, event] as const] : [])),
  );
  const requests = await requestsByNumber(database.read, [...cancelled.keys()]);
  return requests.flatMap((request) => {
    const event = cancelled.get(request.number);
    if (event === undefined) return [];
    return [{ request, transactionHash: event.transactionHash, blockNumber: event.blockNumber }];
  });
}

/**
 * The requests of mined batches, by the hashes of their transactions. If the items of a batch were pruned, which happens when
 * `reconcile` reads old blocks again, its transaction has their numbers.
 * @param batches ids by hash.
 * @returns the requests of each batch in the order of its calls. @throws UnreadableRequest
 */
export async function requestsOfBatches(
  database: Database,
  client: Pick<ChainClient, "transactions">,
  batches: ReadonlyMap<string, number>,
): Promise<Map<string, NumberedRequest[]>> {
  const { read } = database;
  const requests = new Map<string, NumberedRequest[]>();
  for (const [hash, id] of batches) requests.set(hash, await batchRequests(read, id));
  const pruned = [...requests.keys()].filter((hash) => requests.get(hash)?.length === 0);
  if (pruned.length === 0) return requests;
  for (const [index, transaction] of (await client.transactions(pruned)).entries()) {
    const hash = pruned[index] ?? "";
    const calls = transaction == null ? null : decodeExecute(transaction.data);
    if (calls === null)
      throw new ChainUnavailable(`the node does not have the transaction ${hash}, whose logs it returned`);
    const numbers = calls.map(({ number }) => number);
    const found = new Map((await requestsByNumber(read, numbers)).map((request) => [request.number, request]));
    requests.set(
      hash,
      numbers.map((number) => {
        const request = found.get(number);
        if (request === undefined) throw new Error(`the database has no request with the number ${number.toString()}`);
        return request;
      }),
    );
  }
  return requests;
}
