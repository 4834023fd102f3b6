import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { decodeExecute } from "../chain/codec/decode-call.ts";
import type { CollectionEvent, RelayEvent } from "../chain/codec/decode.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import type { Held, HoldingQuery } from "../chain/foreign.ts";
import type { Receipt } from "../chain/transaction.ts";
import { type CollectionType, isDelegated } from "../domain/command.ts";
import { frozenUris } from "../domain/metadata-files.ts";
import type { TokenMove } from "../domain/token.ts";
import { walletApps } from "../store/apps/wallets.ts";
import type { Database } from "../store/db/database.ts";
import { readMeta } from "../store/db/meta.ts";
import type { BlockRange } from "../store/ledger/apply-range.ts";
import type { ChainEdit } from "../store/ledger/chain-edits.ts";
import { followsAt, type IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import { FROZEN } from "../store/requests/freezing.ts";
import { type NumberedRequest, requestsByNumber } from "../store/requests/requests.ts";
import { batchesByHash, batchRequests } from "../store/sending/batches.ts";
import { firstNonces } from "../store/sending/lanes.ts";
import { attribute, AttributionError } from "./attribute.ts";
import { costIn } from "./costs.ts";
import { explainFailures, type FailureDeps } from "./explain-failures.ts";
import {
  type ForeignReads,
  movesOfWallets,
  partiesAmong,
  type RanCommand,
  readTouched,
  unmovedAmong,
} from "./foreign-moves.ts";
import { byPosition, type ChainRange } from "./read-range.ts";

/**
 * Finds a transaction that this database's lanes have sent although the database does not know it. Then the database is an
 * older copy, or another service uses the same seed. What a lane sent before this database first used it does not count, and
 * neither does what it signed for another chain or contract: a node may name any transaction of which it has heard.
 * @param hashes of batches on chain that the database does not have.
 * @returns the hash of the first one; null when there is none.
 */
export async function unknownOfLanes(
  { database, client, contracts }: { database: Database; client: ChainClient; contracts: ContractAddresses },
  hashes: string[],
): Promise<string | null> {
  const first = await firstNonces(database.read);
  const chainId = await readMeta(database.read, "chain_id");
  for (const [index, transaction] of (await client.transactions(hashes)).entries()) {
    if (transaction === null)
      throw new ChainUnavailable("the node does not have a transaction whose logs it returned: it is not in sync");
    if (transaction?.to !== contracts.relay || transaction.chainId.toString() !== chainId) continue;
    const since = first.get(transaction.from ?? "");
    if (since !== undefined && transaction.nonce >= since) return hashes[index] ?? null;
  }
  return null;
}

interface PrepareDeps extends FailureDeps {
  database: Database;
  contracts: ContractAddresses;
  logger: Logger;
  receipts(hashes: string[]): Promise<(Receipt | null)[]>;
  /** The first of these transactions that one of this database's lanes sent. The database knows none of them. */
  ofLanes(hashes: string[]): Promise<string | null>;
  /** Reads what wallets hold of foreign contracts, at the end of the range. Null: that is left to the background. */
  holdings: ((queries: HoldingQuery[]) => Promise<Held[]>) | null;
  /** The same at the end of a block, whose state the node may no longer have. Null: it is not checked what transfers moved. */
  holdingsAt: ((queries: HoldingQuery[], blockHash: string) => Promise<Held[]>) | null;
}

export interface PreparedRange extends BlockRange {
  needsRelayOwner: boolean;
  reads: ForeignReads;
  /** The service's collections at the end of the range: those that it creates, too. */
  collections: ReadonlyMap<string, CollectionType>;
}

/** Joins a range of the chain with the database: finds the service's batches, tokens and wallets, and their requests. */
export async function prepareRange(
  deps: PrepareDeps,
  indexed: IndexedContracts,
  read: ChainRange,
  bounds: { from: number; to: number; confirmed: number; failuresUpTo: number; remember: number },
): Promise<PreparedRange> {
  const { database } = deps;
  const apps = await walletApps(database.read, partiesAmong(read));
  const logged = [...read.moves, ...movesOfWallets(read.foreign, apps)].sort(byPosition);
  const { batches: ran, owners, unknown } = await ourBatches(deps, read, logged);
  const moved = await withoutUnmoved({ ...deps, read, indexed }, ran, owners);
  const batches = await explainFailures(deps, read, moved);
  const types = new Map<string, CollectionType>(indexed.collections);
  let needsRelayOwner = false;
  for (const { outcomes } of batches) {
    for (const { request, outcome } of outcomes) {
      const { command } = request;
      if (command.kind !== "create-collection" || !outcome.ok || outcome.collection === null) continue;
      types.set(outcome.collection, command.type);
      needsRelayOwner ||= command.newOwner === null;
    }
  }
  const moves = entriesOf({ read, indexed, types, apps, owners }, logged);
  const foreign = await readTouched(deps.holdings, indexed, moves);
  return {
    ...bounds,
    parentHash: read.headers.get(bounds.from)?.parentHash ?? "",
    needsRelayOwner,
    forgetBlocksBefore: bounds.remember,
    blocks: [...read.headers.values()]
      .filter((header) => header.number >= bounds.remember)
      .map((header) => ({
        number: header.number,
        hash: header.hash,
        parent_hash: header.parentHash,
        timestamp: header.timestamp * 1000,
      })),
    batches,
    unknownTransaction: await firstOfLanes(deps, read, unknown),
    cancelled: await cancelledRequests(database, read.relay),
    moves,
    changes: [...read.changes.flatMap((event) => changeOf(event, deps.contracts)), ...batches.flatMap(frozenBy)],
    foreignHoldings: foreign.holdings,
    reads: foreign.reads,
    collections: types,
    wallets: new Set(apps.keys()),
  };
}

async function firstOfLanes(
  deps: PrepareDeps,
  { relay }: ChainRange,
  hashes: string[],
): Promise<BlockRange["unknownTransaction"]> {
  const hash = hashes.length === 0 ? null : await deps.ofLanes(hashes);
  const event = relay.find(({ transactionHash }) => transactionHash === hash);
  return hash === null || event === undefined ? null : { hash, blockNumber: event.blockNumber };
}

type Entry = BlockRange["moves"][number];
type Owners = Map<TokenMove, NumberedRequest>;

async function ourBatches(
  deps: PrepareDeps,
  read: ChainRange,
  moves: TokenMove[],
): Promise<{ batches: BlockRange["batches"]; owners: Owners; unknown: string[] }> {
  const byTransaction = Map.groupBy(read.relay, (event: RelayEvent) => event.transactionHash);
  // The chain was read first: a lane commits a transaction to the database before it sends it.
  const known = await batchesByHash(deps.database.read, [...byTransaction.keys()]);
  const carried = await requestsOfBatches(deps, known);
  const owners: Owners = new Map();
  const batches: BlockRange["batches"] = [];
  const byBatch = Map.groupBy(moves, (move) => (known.has(move.transactionHash) ? move.transactionHash : null));
  for (const [transactionHash, relay] of byTransaction) {
    const batchId = known.get(transactionHash);
    const blockNumber = relay[0]?.blockNumber;
    if (batchId === undefined || blockNumber === undefined) continue;
    const requests = carried.get(transactionHash) ?? [];
    const logs = {
      relay,
      moves: byBatch.get(transactionHash) ?? [],
      created: new Map(
        read.created
          .filter((made) => made.transactionHash === transactionHash)
          .map((made) => [made.number, made.collection]),
      ),
    };
    try {
      const { outcomes, untouched, owners: own } = attribute(requests, logs);
      for (const [move, request] of own) owners.set(move, request);
      const timestamp = (read.headers.get(blockNumber)?.timestamp ?? 0) * 1000;
      batches.push({ batchId, transactionHash, blockNumber, timestamp, outcomes, untouched });
    } catch (error) {
      if (!(error instanceof AttributionError)) throw error;
      // Never guess: store nothing of this range until the node's answers are consistent.
      deps.logger.error(
        { err: error, transactionHash },
        "the logs of a batch do not fit its requests: check the node; the range is read again",
      );
      throw error;
    }
  }
  await readCosts(deps, read, batches);
  const unknown = [...byTransaction].flatMap(([hash, events]) =>
    !known.has(hash) && events.some((event) => event.kind === "batch-executed") ? [hash] : [],
  );
  return { batches, owners, unknown };
}

interface From {
  read: ChainRange;
  indexed: IndexedContracts;
}

/**
 * Fails transfers and burns through a delegate whose call succeeded and moved nothing. Another node must say so, too.
 * Where the events of a contract were not read, the relay's word counts.
 */
async function withoutUnmoved(
  { holdingsAt, nodes, read, indexed }: Pick<PrepareDeps, "holdingsAt" | "nodes"> & From,
  batches: BlockRange["batches"],
  owners: Owners,
): Promise<BlockRange["batches"]> {
  const seen = new Set([...owners.values()].map(({ id }) => id));
  const areEventsRead = (contract: string) =>
    indexed.foreign.get(contract)?.healthy === true && !read.flooding.has(contract);
  const ran = batches.flatMap(({ outcomes, blockNumber }) => {
    const header = read.headers.get(blockNumber);
    if (header === undefined) return [];
    const block = { before: header.parentHash, after: header.hash };
    return outcomes.flatMap(({ request: { id, command }, outcome }) =>
      outcome.ok && isDelegated(command) && !seen.has(id) ? [{ requestId: id, command, block }] : [],
    );
  });
  if (ran.length === 0) return batches;
  // The service's own collections have an event for everything, also for what a wallet does through its delegate.
  const isOwn = ({ command }: RanCommand) => indexed.collections.has(command.contract);
  const others = ran.filter((one) => !isOwn(one) && areEventsRead(one.command.contract));
  const unmoved = new Set<string>();
  if (holdingsAt !== null) {
    const said = await unmovedAmong(others, holdingsAt);
    const again = said.size === 0 ? said : await nodes.second(() => unmovedAmong(others, holdingsAt));
    for (const id of said) if (again === null || again.has(id)) unmoved.add(id);
  }
  for (const one of ran.filter(isOwn)) unmoved.add(one.requestId);
  const outcome = { ok: false, errorCode: "nothing_moved", errors: null } as const;
  return batches.map((batch) => ({
    ...batch,
    outcomes: batch.outcomes.map((settled) => (unmoved.has(settled.request.id) ? { ...settled, outcome } : settled)),
  }));
}

/** Reads what the batches cost. Where the node shows no receipt, the cost is read later. */
async function readCosts(deps: PrepareDeps, read: ChainRange, batches: BlockRange["batches"]): Promise<void> {
  if (batches.length === 0) return;
  const receipts = await deps.receipts(batches.map((batch) => batch.transactionHash));
  for (const [index, batch] of batches.entries()) {
    const hash = read.headers.get(batch.blockNumber)?.hash ?? "";
    const cost = costIn(receipts[index], { number: batch.blockNumber, hash });
    if (cost !== null) batch.cost = cost;
  }
}

interface Joined {
  read: ChainRange;
  indexed: IndexedContracts;
  /** Types of the service's collections. */
  types: ReadonlyMap<string, CollectionType>;
  /** The app of each wallet of the service. */
  apps: ReadonlyMap<string, string>;
  owners: Owners;
}

/** Of foreign contracts, keeps only the moves that concern wallets whose app follows the contract. */
function entriesOf({ read, indexed, types, apps, owners }: Joined, moves: TokenMove[]): Entry[] {
  return moves.flatMap((move) => {
    const own = types.get(move.contract);
    if (own !== undefined) return [entryOf(read, move, own, owners)];
    const foreign = indexed.foreign.get(move.contract);
    if (foreign === undefined) return [];
    const concerned = [move.from, move.to].filter((end) => {
      const app = end === null ? undefined : apps.get(end);
      return app !== undefined && followsAt(foreign, app, move.blockNumber);
    });
    if (concerned.length === 0) return [];
    const entry = entryOf(read, move, foreign.type, owners);
    const historyOf = concerned.filter((end) => end !== null);
    return [{ ...entry, foreign: true, move: { ...entry.move, historyOf } }];
  });
}

function entryOf(read: ChainRange, move: TokenMove, type: CollectionType, owners: Owners): Entry {
  const request = owners.get(move) ?? null;
  const timestamp = (read.headers.get(move.blockNumber)?.timestamp ?? 0) * 1000;
  return {
    move: { ...move, timestamp, requestId: request?.id ?? null },
    type,
    foreign: false,
    mintedBy: move.from === null ? request : null,
  };
}

/** The event for a new collection URI does not contain the URI, so it comes from the freeze request. */
function frozenBy(batch: BlockRange["batches"][number]): ChainEdit[] {
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
async function cancelledRequests(database: Database, events: readonly RelayEvent[]): Promise<BlockRange["cancelled"]> {
  const places = new Map(
    events.flatMap((event) => (event.kind === "number-cancelled" ? [[event.number, event] as const] : [])),
  );
  const requests = await requestsByNumber(database.read, [...places.keys()]);
  return requests.flatMap((request) => {
    const place = places.get(request.number);
    if (place === undefined) return [];
    return [{ request, transactionHash: place.transactionHash, blockNumber: place.blockNumber }];
  });
}

/**
 * The requests of mined batches, by the hashes of their transactions. If the items of a batch were pruned, which happens when
 * `reconcile` reads old blocks again, its transaction has their numbers.
 * @param batches ids by hash.
 * @returns the requests of each batch in the order of its calls. @throws UnreadableRequest
 */
export async function requestsOfBatches(
  { database, transactions }: Pick<PrepareDeps, "database" | "transactions">,
  batches: ReadonlyMap<string, number>,
): Promise<Map<string, NumberedRequest[]>> {
  const { read } = database;
  const requests = new Map<string, NumberedRequest[]>();
  for (const [hash, id] of batches) requests.set(hash, await batchRequests(read, id));
  const pruned = [...requests.keys()].filter((hash) => requests.get(hash)?.length === 0);
  if (pruned.length === 0) return requests;
  for (const [index, transaction] of (await transactions(pruned)).entries()) {
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
