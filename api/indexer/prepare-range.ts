import type { Logger } from "pino";

import type { ContractAddresses } from "../chain/contracts.ts";
import type { HoldingQuery } from "../chain/foreign-contracts.ts";
import type { CollectionEvent, RelayEvent, TokenMove } from "../chain/logs.ts";
import type { CollectionType } from "../domain/command.ts";
import { frozenUris } from "../domain/frozen-uris.ts";
import type { BlockRange } from "../store/ledger/apply-range.ts";
import { FROZEN } from "../store/requests/freezing.ts";
import { batchesByHash, batchRequests } from "../store/sending/batches.ts";
import type { ClaimedRequest } from "../store/sending/claims.ts";
import type { ChainEdit } from "../store/ledger/chain-edits.ts";
import type { Database } from "../store/db/database.ts";
import { type UncertainHolding, uncertainHoldings } from "../store/ledger/uncertain.ts";
import { walletPaths } from "../store/apps/wallets.ts";
import type { WatchedContracts } from "../store/ledger/watched.ts";
import { attribute, AttributionError } from "./attribute.ts";
import { cancelledRequests } from "./cancelled.ts";
import { gasLimits } from "./gas-limits.ts";
import type { ChainRange } from "./read-range.ts";

export interface PrepareDeps {
  database: Database;
  contracts: ContractAddresses;
  logger: Logger;
  receipts(hashes: string[]): Promise<({ gasUsed: bigint } | null)[]>;
  /** Reads what wallets hold of foreign contracts, at the end of the range or later. */
  holdings(queries: HoldingQuery[]): Promise<(bigint | null | undefined)[]>;
}

/** Uncertain holdings that are read again with one range. */
const UNCERTAIN_AT_ONCE = 500;

export type PreparedRange = BlockRange & { needsRelayOwner: boolean };

/** Joins a range of the chain with the database: finds the service's batches, tokens and wallets, and their requests. */
export async function prepareRange(
  deps: PrepareDeps,
  watched: WatchedContracts,
  read: ChainRange,
  bounds: { from: number; to: number; confirmed: number; remember: number },
): Promise<PreparedRange> {
  const { database } = deps;
  const { batches, owners } = await ourBatches(deps, read);
  const types = new Map<string, CollectionType>(watched.collections);
  let needsRelayOwner = false;
  for (const { outcomes } of batches) {
    for (const { request, outcome } of outcomes) {
      const { command } = request;
      if (command.kind !== "create-collection" || !outcome.ok || outcome.collection === null) continue;
      types.set(outcome.collection, command.type);
      needsRelayOwner ||= command.newOwner === null;
    }
  }
  const ends = read.moves.flatMap((move) => [move.from, move.to]).filter((end) => end !== null);
  const wallets = new Set((await walletPaths(database.read, [...new Set(ends)])).keys());
  const moves = ownMoves(read, types, owners).concat(foreignMoves(read, watched, types, wallets, owners));
  moves.sort(
    (a, b) =>
      a.move.blockNumber - b.move.blockNumber || a.move.logIndex - b.move.logIndex || a.move.subIndex - b.move.subIndex,
  );
  const uncertain = await uncertainHoldings(database.read, UNCERTAIN_AT_ONCE);
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
    cancelled: await cancelledRequests(database, read.relay),
    moves,
    changes: [...read.changes.flatMap((event) => changeOf(event, deps.contracts)), ...batches.flatMap(frozenBy)],
    foreignHoldings: await readForeign(deps, watched, types, moves, wallets, uncertain),
    wallets,
  };
}

type Entry = BlockRange["moves"][number];
type Owners = Map<TokenMove, ClaimedRequest>;

async function ourBatches(
  deps: PrepareDeps,
  read: ChainRange,
): Promise<{ batches: BlockRange["batches"]; owners: Owners }> {
  const byTransaction = Map.groupBy(read.relay, (event: RelayEvent) => event.transactionHash);
  const known = await batchesByHash(deps.database.read, [...byTransaction.keys()]);
  const owners: Owners = new Map();
  const batches: BlockRange["batches"] = [];
  for (const [transactionHash, relay] of byTransaction) {
    const batchId = known.get(transactionHash);
    const blockNumber = relay[0]?.blockNumber;
    if (batchId === undefined || blockNumber === undefined) continue;
    const requests = await batchRequests(deps.database.read, batchId);
    const logs = {
      relay,
      moves: read.moves.filter((move) => move.transactionHash === transactionHash),
      created: new Map(
        read.created
          .filter((made) => made.transactionHash === transactionHash)
          .map((made) => [made.number, made.collection]),
      ),
    };
    try {
      const limits = await gasLimits(deps.database, relay);
      const attributed = attribute({ batchId, transactionHash, blockNumber, requests }, logs, limits);
      const byId = new Map(requests.map((request) => [request.id, request]));
      for (const [move, id] of attributed.owners) {
        const request = byId.get(id);
        if (request !== undefined) owners.set(move, request);
      }
      batches.push({ ...attributed.result, timestamp: (read.headers.get(blockNumber)?.timestamp ?? 0) * 1000 });
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
  await readGas(deps, batches);
  return { batches, owners };
}

/** Reads the gas of batches whose requests count towards a gas quota. */
async function readGas(deps: PrepareDeps, batches: BlockRange["batches"]): Promise<void> {
  const charged = batches.filter(({ outcomes }) => outcomes.some(({ request }) => request.gas_charged !== null));
  if (charged.length === 0) return;
  const receipts = await deps.receipts(charged.map((batch) => batch.transactionHash));
  for (const [index, batch] of charged.entries()) {
    const used = receipts[index]?.gasUsed;
    if (used !== undefined) batch.gasUsed = Number(used);
  }
}

function ownMoves(read: ChainRange, types: Map<string, CollectionType>, owners: Owners): Entry[] {
  return read.moves.flatMap((move) => {
    const type = types.get(move.contract);
    return type === undefined ? [] : [entryOf(read, move, type, false, owners)];
  });
}

/** Keeps only those moves of foreign contracts that concern the service's wallets. */
function foreignMoves(
  read: ChainRange,
  watched: WatchedContracts,
  own: Map<string, CollectionType>,
  wallets: Set<string>,
  owners: Owners,
): Entry[] {
  return read.moves.flatMap((move) => {
    const foreign = own.has(move.contract) ? undefined : watched.foreign.get(move.contract);
    if (foreign === undefined || move.blockNumber <= foreign.followedFrom) return [];
    const concerns = [move.from, move.to].some((end) => end !== null && wallets.has(end));
    return concerns ? [entryOf(read, move, foreign.type, true, owners)] : [];
  });
}

function entryOf(read: ChainRange, move: TokenMove, type: CollectionType, foreign: boolean, owners: Owners): Entry {
  const request = owners.get(move) ?? null;
  const { kind: _kind, ...fields } = move;
  const timestamp = (read.headers.get(move.blockNumber)?.timestamp ?? 0) * 1000;
  return {
    move: { ...fields, timestamp, requestId: request?.id ?? null },
    type,
    foreign,
    mintedBy: move.from === null ? request : null,
  };
}

/** Events of foreign contracts may be wrong, so holdings are read from the contract itself. */
async function readForeign(
  deps: PrepareDeps,
  watched: WatchedContracts,
  own: Map<string, CollectionType>,
  moves: Entry[],
  wallets: Set<string>,
  uncertain: UncertainHolding[],
): Promise<BlockRange["foreignHoldings"]> {
  const touched = new Map<string, HoldingQuery>();
  const touch = (contract: string, tokenId: string, owner: string | null) => {
    const type = watched.foreign.get(contract)?.type;
    if (owner === null || type === undefined || own.has(contract) || !wallets.has(owner)) return;
    touched.set(`${contract}/${tokenId}/${owner}`, { contract, type, tokenId, owner });
  };
  for (const { move, foreign } of moves) {
    if (!foreign) continue;
    touch(move.contract, move.tokenId, move.from);
    touch(move.contract, move.tokenId, move.to);
  }
  for (const holding of uncertain) {
    wallets.add(holding.owner);
    touch(holding.contract, holding.tokenId, holding.owner);
  }
  const queries = [...touched.values()];
  if (queries.length === 0) return [];
  const held = await deps.holdings(queries);
  return queries.map(({ contract, tokenId, owner }, index) => {
    const answer = held[index];
    // Nobody holds a token that does not exist.
    return { contract, tokenId, owner, quantity: answer === undefined ? null : (answer ?? 0n) };
  });
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
    case "token-uri-changed":
      return [{ contract, tokenId: event.tokenId, blockNumber, column: "token_uri", value: event.uri }];
  }
}
