import type { Block, ChainClient } from "../chain/client.ts";
import { type ContractAddresses, type Factory, factoryAt } from "../chain/contracts.ts";
import { ChainUnavailable, QueryTooLarge } from "../chain/errors.ts";
import {
  COLLECTION_TOPICS,
  type CollectionEvent,
  CREATED_TOPIC,
  decodeCollectionEvent,
  decodeCreated,
  decodeMoves,
  decodeRelayEvent,
  MOVE_TOPICS,
  type RelayEvent,
} from "../chain/codec/decode.ts";
import { type LogRequest, queryLogs, RangeTooLarge, type RawLog } from "../chain/query-logs.ts";
import type { TokenMove } from "../domain/token.ts";
import { mapInSlices } from "../shared/in-slices.ts";
import type { IndexedContracts } from "../store/ledger/indexed-contracts.ts";
import type { ReceiptCheck } from "./receipt-check.ts";
import { digestLogs, type LogsAt } from "./unproven-logs.ts";

/** Largest answer to a query for logs of foreign contracts, in bytes. A contract that exceeds it alone floods. */
const FOREIGN_BYTES = 16 * 1_048_576;

/**
 * Logs of this many blocks below the head are requested by block hash. Behind a load balancer a lagging node answers a range
 * query with no logs and no error. No node lags by more blocks than this.
 */
const BY_HASH = 64;

/** The contracts whose logs are read. */
export type IndexedAddresses = Record<keyof Pick<IndexedContracts, "collections" | "foreign">, LogRequest["addresses"]>;

/** Which blocks are read. */
export interface RangeToRead {
  from: number;
  to: number;
  /** The newest block when the reading began. A block that was not deep enough then may have been replaced since. */
  head: number;
  /** The first block whose header is kept. */
  remember: number;
  /** The contracts whose logs are read. */
  indexed: IndexedContracts;
  /** The block at `from` if it was read already. */
  first: Block | null;
}

/** A range of blocks as a node gave it: its logs decoded, in order. */
export interface ChainRange extends Omit<RangeToRead, "first"> {
  /** Headers of the first and the last block, of blocks with logs, and of all blocks that a reorg may still replace. */
  headers: ReadonlyMap<number, Block>;
  relay: RelayEvent[];
  /** Collections created in the range. */
  created: { transactionHash: string; number: bigint; collection: string; factory: Factory }[];
  /** Transfers in the service's collections. */
  moves: TokenMove[];
  changes: CollectionEvent[];
  /** Transfer logs of foreign contracts, undecoded: most of them concern no wallet of the service. In order. */
  foreign: RawLog[];
  /** Foreign contracts whose logs were not read, because there are too many. */
  flooding: ReadonlySet<string>;
  /** What other nodes must say about the logs of these blocks. Null: receipts prove them, or there is no other node. */
  unproven: LogsAt | null;
}

/**
 * Reads one range, from the node of the session. Every log is checked against the header of its block. So a reorg between two
 * answers, or a node that mixes two chains, gives an error and no mixed data.
 * @param contracts those of the service; null: only logs of `indexed` are read.
 * @param receipts compares the logs with the receipts of their blocks; null: nothing does.
 * @throws ChainUnavailable, RangeTooLarge: read a smaller range.
 */
export async function readRange(
  client: ChainClient,
  contracts: ContractAddresses | null,
  { first, ...range }: RangeToRead,
  receipts: Pick<ReceiptCheck, "check"> | null = null,
): Promise<ChainRange> {
  const recent = await readRecent(client, range, first);
  const read = (request: LogRequest) => logsOf(client, request, range, recent);
  const { own, created, fresh, tokens, foreign, flooding } = await readLogs(client, contracts, range.indexed, read);
  const logs = [...own, ...tokens, ...foreign];
  const headers = await readHeaders(client, logs, range, recent);
  for (const log of logs) {
    if (headers.get(log.blockNumber)?.hash !== log.blockHash) {
      throw new ChainUnavailable(
        "the node's logs do not belong to its blocks: there was a reorg, or the node is not in sync",
      );
    }
  }
  const isProven =
    contracts !== null && (await receipts?.check({ ...range, headers, logs, contracts, fresh, flooding }));
  // Not all at once: calls are answered meanwhile.
  const moves = (await mapInSlices(tokens, decodeMoves)).flat();
  return {
    ...range,
    headers,
    relay: own
      .filter((log) => log.address === contracts?.relay)
      .flatMap((log) => decodeRelayEvent(log) ?? [])
      .sort(byPosition),
    created,
    moves: moves.sort(byPosition),
    changes: (await mapInSlices(tokens, (log) => decodeCollectionEvent(log) ?? [])).flat().sort(byPosition),
    foreign: foreign.sort(byPosition),
    flooding,
    unproven:
      isProven === true || contracts === null || client.nodes.count === 1
        ? null
        : await digestLogs([...own, ...tokens], flooding.size > 0 ? null : foreign),
  };
}

/**
 * Digests of the logs that a node has for a range, read with the same queries as in `readRange`, of the same contracts.
 * @param last the node's block at the end of the range.
 * @throws ChainUnavailable, RpcError
 */
export async function readDigests(
  client: ChainClient,
  contracts: ContractAddresses | null,
  { collections, foreign }: IndexedAddresses,
  { from, to, last }: { from: number; to: number; last: Block },
): Promise<LogsAt> {
  const own: RawLog[][] = [];
  const others: RawLog[][] = [];
  let known: LogRequest["addresses"] = collections;
  let floods = false;
  for (let at = from; at <= to;) {
    const end = Math.min(to, at - 1 + client.logLimits.blocks.value);
    // A single block is asked for by its hash, which takes fewer calls than a range.
    const single = new Map(at === end && end === to ? [[to, last]] : []);
    const read = (request: LogRequest) => logsOf(client, request, { from: at, to: end }, single);
    try {
      const logs = await readLogs(client, contracts, { collections: known, foreign }, read);
      own.push(logs.own, logs.tokens);
      others.push(logs.foreign);
      floods ||= logs.flooding.size > 0;
      // A collection that the range creates may have logs in its later parts.
      if (logs.created.length > 0) known = new Set([...known.keys(), ...logs.created.map((made) => made.collection)]);
    } catch (error) {
      // The limit is lower now.
      if (error instanceof RangeTooLarge) continue;
      throw error;
    }
    at = end + 1;
  }
  return digestLogs(own.flat(), floods ? null : others.flat().filter(({ address }) => !known.has(address)));
}

/**
 * The logs of a range.
 * @returns `own`: of the relay and the factories. `fresh`: the created collections that were not indexed. `tokens`: of the
 *   collections.
 */
async function readLogs(
  client: ChainClient,
  contracts: ContractAddresses | null,
  indexed: IndexedAddresses,
  read: Read,
) {
  const ours = contracts === null ? [] : [contracts.relay, ...contracts.factories.map(({ address }) => address)];
  // These do not depend on each other, so they are read at the same time.
  const [own, found] = await Promise.all([
    read({ addresses: new Set(ours), topics: [] }),
    readTokens(indexed, client.logLimits.topicsAbove, read),
  ]);
  const created = own.flatMap((log) => {
    const isMade = contracts !== null && log.topics[0] === CREATED_TOPIC;
    const factory = isMade ? factoryAt(contracts, log.address) : undefined;
    const made = factory === undefined ? null : decodeCreated(log);
    if (factory === undefined || made === null) return [];
    return [{ transactionHash: log.transactionHash, factory, ...made }];
  });
  // A collection that the range creates may have mints in the same range, and an app may follow its address already.
  const fresh = new Set(created.map(({ collection }) => collection).filter((one) => !indexed.collections.has(one)));
  const tokens = found.own.concat(await read({ addresses: fresh, topics: COLLECTION_TOPICS }));
  const foreign = found.logs.filter((log) => !fresh.has(log.address));
  return { own, created, fresh, tokens, foreign, flooding: found.flooding };
}

interface ForeignLogs {
  logs: RawLog[];
  /** Contracts whose logs are too many to be read. */
  flooding: Set<string>;
}

type Read = (request: LogRequest) => Promise<RawLog[]>;

/** Logs of the service's collections, and of foreign contracts. */
async function readTokens(
  { collections, foreign }: IndexedAddresses,
  topicsAbove: number,
  read: Read,
): Promise<ForeignLogs & { own: RawLog[] }> {
  if (collections.size + foreign.size > topicsAbove) {
    const logs = await readBoth({ collections, foreign }, read);
    if (logs !== null) {
      return {
        own: logs.filter((log) => collections.has(log.address)),
        logs: logs.filter((log) => !collections.has(log.address)),
        flooding: new Set(),
      };
    }
  }
  const [own, followed] = await Promise.all([
    read({ addresses: collections, topics: COLLECTION_TOPICS }),
    readForeign([...foreign.keys()], read),
  ]);
  return { own, ...followed };
}

/** The query names no addresses, so it finds the logs of both. Null when a foreign contract may have too many. */
async function readBoth({ collections, foreign }: IndexedAddresses, read: Read): Promise<RawLog[] | null> {
  const either = {
    size: collections.size + foreign.size,
    has: (address: string) => collections.has(address) || foreign.has(address),
    keys: () => [...collections.keys(), ...foreign.keys()],
  };
  try {
    return await read({ addresses: either, topics: COLLECTION_TOPICS });
  } catch (error) {
    if (error instanceof QueryTooLarge && foreign.size > 0) return null;
    throw error;
  }
}

/** Logs of foreign contracts. When they are too many, the contract that floods is found by halving. */
async function readForeign(addresses: string[], read: Read): Promise<ForeignLogs> {
  try {
    const request = { addresses: new Set(addresses), topics: MOVE_TOPICS, answerBytes: FOREIGN_BYTES };
    return { logs: await read(request), flooding: new Set() };
  } catch (error) {
    if (!(error instanceof QueryTooLarge)) throw error;
    if (addresses.length === 1) return { logs: [], flooding: new Set(addresses) };
    const middle = Math.ceil(addresses.length / 2);
    const first = await readForeign(addresses.slice(0, middle), read);
    const second = await readForeign(addresses.slice(middle), read);
    return { logs: first.logs.concat(second.logs), flooding: new Set([...first.flooding, ...second.flooding]) };
  }
}

async function logsOf(
  client: ChainClient,
  request: LogRequest,
  range: { from: number; to: number },
  recent: Map<number, Block>,
): Promise<RawLog[]> {
  const hashes = [...recent.values()].map((block) => block.hash);
  const deepest = range.to - recent.size;
  const deep = deepest >= range.from ? await queryLogs(client, request, { from: range.from, to: deepest }) : [];
  const near = hashes.length > 0 ? await queryLogs(client, request, { hashes }) : [];
  return deep.concat(near);
}

/** Headers of the blocks of the range that are near the head. */
async function readRecent(
  client: ChainClient,
  range: { from: number; to: number; head: number },
  first: Block | null,
): Promise<Map<number, Block>> {
  const lowest = Math.max(range.from, range.head - BY_HASH + 1);
  const numbers = Array.from({ length: Math.max(0, range.to - lowest + 1) }, (_, index) => lowest + index);
  const headers = new Map<number, Block>();
  if (first !== null && first.number === numbers[0]) headers.set(first.number, first);
  await addHeaders(
    client,
    numbers.filter((number) => !headers.has(number)),
    headers,
  );
  return headers;
}

async function addHeaders(client: ChainClient, numbers: number[], headers: Map<number, Block>): Promise<void> {
  for (const [index, header] of (await client.blocks(numbers)).entries()) {
    const number = numbers[index];
    if (header === null || number === undefined || header.number !== number) {
      throw new ChainUnavailable("the node does not have a block below its own head: it is not in sync");
    }
    headers.set(number, header);
  }
}

async function readHeaders(
  client: ChainClient,
  logs: RawLog[],
  range: { from: number; to: number; remember: number },
  recent: Map<number, Block>,
): Promise<Map<number, Block>> {
  const wanted = new Set([range.from, range.to, ...logs.map((log) => log.blockNumber)]);
  for (let number = Math.max(range.from, range.remember); number <= range.to; number++) wanted.add(number);
  const headers = new Map(recent);
  await addHeaders(
    client,
    [...wanted].filter((number) => !recent.has(number)).sort((a, b) => a - b),
    headers,
  );
  for (const header of headers.values()) {
    const parent = headers.get(header.number - 1);
    if (parent !== undefined && parent.hash !== header.parentHash) {
      throw new ChainUnavailable(
        "the node's blocks do not follow each other: there was a reorg, or the node is not in sync",
      );
    }
  }
  return headers;
}

export function byPosition(
  a: { blockNumber: number; logIndex: number },
  b: { blockNumber: number; logIndex: number },
): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
