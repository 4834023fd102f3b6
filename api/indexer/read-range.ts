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

/** Addresses in one log query. Common providers accept this many. */
const ADDRESS_CHUNK = 500;

/**
 * Logs of this many blocks below the head are requested by block hash. Behind a load balancer a lagging node answers a range
 * query with no logs and no error. No node lags by more blocks than this.
 */
const BY_HASH = 64;

/** The decoded logs of a range of blocks, in order. */
export interface ChainRange {
  /** Headers of the first and the last block, of blocks with logs, and of all blocks that a reorg may still replace. */
  headers: Map<number, Block>;
  relay: RelayEvent[];
  /** Collections created in the range. */
  created: { transactionHash: string; number: bigint; collection: string }[];
  moves: TokenMove[];
  changes: CollectionEvent[];
}

/**
 * Reads one range. Every log is checked against the header of its block. So a reorg between two answers, or a node that mixes
 * two chains, gives an error and no mixed data.
 * @param range `head` is the newest block, `remember` the first block whose header is kept, `first` the block at `from` if
 *   it was read already.
 * @throws ChainUnavailable
 */
export async function readRange(
  client: ChainClient,
  contracts: ContractAddresses,
  watched: { collections: string[]; foreign: string[] },
  range: { from: number; to: number; head: number; remember: number; first: Block | null },
): Promise<ChainRange> {
  const recent = await readRecent(client, range);
  const read = (addresses: string[], topics: string[][]) => logsOf(client, addresses, topics, range, recent);
  // None of these depends on another, so they are read at the same time.
  const [own, known, followed] = await Promise.all([
    read([contracts.relay, contracts.factory], []),
    read(watched.collections, [COLLECTION_TOPICS]),
    read(watched.foreign, [MOVE_TOPICS]),
  ]);
  const created = own.flatMap((log) => {
    const made = log.topics[0] === CREATED_TOPIC && log.address === contracts.factory ? decodeCreated(log) : null;
    return made === null ? [] : [{ transactionHash: log.transactionHash, ...made }];
  });
  // A collection that the range creates may have mints in the same range, and an app may follow its address already.
  const ours = new Set(watched.collections);
  const fresh = new Set(created.map((made) => made.collection).filter((address) => !ours.has(address)));
  const tokenLogs = known.concat(await read([...fresh], [COLLECTION_TOPICS]));
  const foreignLogs = followed.filter((log) => !fresh.has(log.address));
  const logs = [...own, ...tokenLogs, ...foreignLogs];
  const headers = await readHeaders(client, logs, range, recent);
  for (const log of logs) {
    if (headers.get(log.blockNumber)?.hash !== log.blockHash) {
      throw new ChainUnavailable(
        "the node's logs do not belong to its blocks: there was a reorg, or the node is not in sync",
      );
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

/** Headers of the blocks of the range that are near the head. */
async function readRecent(
  client: ChainClient,
  range: { from: number; to: number; head: number; first: Block | null },
): Promise<Map<number, Block>> {
  const lowest = Math.max(range.from, range.head - BY_HASH + 1);
  const numbers = Array.from({ length: Math.max(0, range.to - lowest + 1) }, (_, index) => lowest + index);
  const headers = new Map<number, Block>();
  const { first } = range;
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

function byPosition(
  a: { blockNumber: number; logIndex: number },
  b: { blockNumber: number; logIndex: number },
): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
