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

/** What the chain says in a range of blocks, decoded, in the order of its logs. */
export interface ChainRange {
  /** Headers of the first and last block, of those with logs, and of all that may still be reorganised. */
  headers: Map<number, Block>;
  relay: RelayEvent[];
  /** Collections made in the range: request number -> address, with where. */
  created: { transactionHash: string; number: string; collection: string }[];
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
  range: { from: number; to: number; remember: number },
): Promise<ChainRange> {
  const { from, to } = range;
  const own = await client.logs({ address: [contracts.relay, contracts.factory], topics: [] }, from, to);
  const created = own.flatMap((log) => {
    const made = log.topics[0] === CREATED_TOPIC && log.address === contracts.factory ? decodeCreated(log) : null;
    return made === null ? [] : [{ transactionHash: log.transactionHash, ...made }];
  });
  // What the range itself creates can be minted in within the same range.
  const collections = [...new Set([...watched.collections, ...created.map((made) => made.collection)])];
  const tokenLogs = await logsOf(client, collections, COLLECTION_TOPICS, from, to);
  const foreignLogs = await logsOf(client, watched.foreign, MOVE_TOPICS, from, to);
  const logs = [...own, ...tokenLogs, ...foreignLogs];
  const headers = await readHeaders(client, logs, range);
  for (const log of logs) {
    if (headers.get(log.blockNumber)?.hash !== log.blockHash) {
      throw new ChainUnavailable("the node's logs do not belong to its blocks");
    }
  }
  const ours = new Set(collections);
  return {
    headers,
    relay: own
      .filter((log) => log.address === contracts.relay)
      .flatMap((log) => decodeRelayEvent(log) ?? [])
      .sort(byPosition),
    created,
    moves: [...tokenLogs, ...foreignLogs].flatMap(decodeMoves).sort(byPosition),
    changes: tokenLogs
      .filter((log) => ours.has(log.address))
      .flatMap((log) => decodeCollectionEvent(log) ?? [])
      .sort(byPosition),
  };
}

async function logsOf(
  client: ChainClient,
  addresses: string[],
  topics: string[],
  from: number,
  to: number,
): Promise<RawLog[]> {
  const logs: RawLog[] = [];
  for (let start = 0; start < addresses.length; start += ADDRESS_CHUNK) {
    const address = addresses.slice(start, start + ADDRESS_CHUNK);
    logs.push(...(await client.logs({ address, topics: [topics] }, from, to)));
  }
  return logs;
}

async function readHeaders(
  client: ChainClient,
  logs: RawLog[],
  range: { from: number; to: number; remember: number },
): Promise<Map<number, Block>> {
  const wanted = new Set([range.from, range.to, ...logs.map((log) => log.blockNumber)]);
  for (let number = Math.max(range.from, range.remember); number <= range.to; number++) wanted.add(number);
  const numbers = [...wanted].sort((a, b) => a - b);
  const headers = new Map<number, Block>();
  for (const [index, header] of (await client.blocks(numbers)).entries()) {
    const number = numbers[index];
    if (header === null || number === undefined || header.number !== number) {
      throw new ChainUnavailable("the node does not have a block that it named");
    }
    headers.set(number, header);
  }
  for (const header of headers.values()) {
    const parent = headers.get(header.number - 1);
    if (parent !== undefined && parent.hash !== header.parentHash) {
      throw new ChainUnavailable("the node's blocks do not follow each other");
    }
  }
  return headers;
}

function byPosition(a: { blockNumber: number; logIndex: number }, b: { blockNumber: number; logIndex: number }): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
