import type { Block, ChainClient, RawLog } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
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
  type TokenMove,
} from "../chain/logs.ts";

/** Addresses in one log query: what common providers accept. */
const ADDRESS_CHUNK = 500;

/**
 * Blocks below the head whose logs are asked for by block hash. A range query gives nothing, and no error, where the node
 * behind a load balancer lags; deeper than this none does.
 */
const BY_HASH = 64;

/** What the chain says in a range of blocks, decoded, in the order of its logs. */
export interface ChainRange {
  /** Headers of the first and last block, of those with logs, and of all that may still be reorganised. */
  headers: Map<number, Block>;
  relay: RelayEvent[];
  /** Collections made in the range: request number -> address, with where. */
  created: { transactionHash: string; number: bigint; collection: string }[];
  moves: TokenMove[];
  changes: CollectionEvent[];
}

/**
 * Reads one range. Every log is checked against the header of its block, so that a reorg between two answers, or a
 * node that mixes two chains, gives an error instead of a mixture.
 * @param remember blocks from here on keep their headers.
 * @throws ChainUnavailable
 */
export async function readRange(
  client: ChainClient,
  contracts: ContractAddresses,
  watched: { collections: string[]; foreign: string[] },
  range: { from: number; to: number; head: number; remember: number },
): Promise<ChainRange> {
  const recent = await readRecent(client, range);
  const own = await logsOf(client, [contracts.relay, contracts.factory], [], range, recent);
  const created = own.flatMap((log) => {
    const made = log.topics[0] === CREATED_TOPIC && log.address === contracts.factory ? decodeCreated(log) : null;
    return made === null ? [] : [{ transactionHash: log.transactionHash, ...made }];
  });
  // What the range itself creates can be minted in within the same range.
  const collections = [...new Set([...watched.collections, ...created.map((made) => made.collection)])];
  const ours = new Set(collections);
  const tokenLogs = await logsOf(client, collections, [COLLECTION_TOPICS], range, recent);
  const foreign = watched.foreign.filter((address) => !ours.has(address));
  const foreignLogs = await logsOf(client, foreign, [MOVE_TOPICS], range, recent);
  const logs = [...own, ...tokenLogs, ...foreignLogs];
  const headers = await readHeaders(client, logs, range, recent);
  for (const log of logs) {
    if (headers.get(log.blockNumber)?.hash !== log.blockHash) {
      throw new ChainUnavailable("the node's logs do not belong to its blocks");
    }
  }
  return {
    headers,
    relay: own
      .filter((log) => log.address === contracts.relay)
      .flatMap((log) => decodeRelayEvent(log) ?? [])
      .sort(byPosition),
    created,
    moves: [...tokenLogs, ...foreignLogs].flatMap(decodeMoves).sort(byPosition),
    changes: tokenLogs.flatMap((log) => decodeCollectionEvent(log) ?? []).sort(byPosition),
  };
}

async function logsOf(
  client: ChainClient,
  addresses: string[],
  topics: string[][],
  range: { from: number; to: number },
  recent: Map<number, Block>,
): Promise<RawLog[]> {
  const logs: RawLog[] = [];
  const hashes = [...recent.values()].map((block) => block.hash);
  const deepest = range.to - recent.size;
  for (let start = 0; start < addresses.length; start += ADDRESS_CHUNK) {
    const filter = { address: addresses.slice(start, start + ADDRESS_CHUNK), topics };
    if (deepest >= range.from) logs.push(...(await client.logs(filter, range.from, deepest)));
    if (hashes.length > 0) logs.push(...(await client.logsOfBlocks(filter, hashes)));
  }
  return logs;
}

/** Headers of those blocks of the range that are near the head. */
async function readRecent(
  client: ChainClient,
  range: { from: number; to: number; head: number },
): Promise<Map<number, Block>> {
  const first = Math.max(range.from, range.head - BY_HASH + 1);
  const numbers = Array.from({ length: Math.max(0, range.to - first + 1) }, (_, index) => first + index);
  const headers = new Map<number, Block>();
  await addHeaders(client, numbers, headers);
  return headers;
}

async function addHeaders(client: ChainClient, numbers: number[], headers: Map<number, Block>): Promise<void> {
  for (const [index, header] of (await client.blocks(numbers)).entries()) {
    const number = numbers[index];
    if (header === null || number === undefined || header.number !== number) {
      throw new ChainUnavailable("the node does not have a block that it named");
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
      throw new ChainUnavailable("the node's blocks do not follow each other");
    }
  }
  return headers;
}

function byPosition(
  a: { blockNumber: number; logIndex: number },
  b: { blockNumber: number; logIndex: number },
): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
