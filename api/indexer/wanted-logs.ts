import type { Block } from "../chain/client.ts";
import { COLLECTION_TOPICS, MOVE_TOPICS } from "../chain/codec/decode.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import type { RawLog } from "../chain/query-logs.ts";
import { bloomBits, mayHave } from "../chain/receipt-proof.ts";
import type { IndexedAddresses } from "./read-range.ts";

/** With more contracts than this, the bloom of a header is checked for their events only, not for their addresses. */
const MOST_ADDRESSES = 2_000;

/** What was read of a range of blocks. */
export interface ReadLogs {
  from: number;
  to: number;
  headers: ReadonlyMap<number, Block>;
  logs: readonly RawLog[];
  contracts: ContractAddresses;
  indexed: IndexedAddresses;
  /** Collections that the range creates. */
  fresh: ReadonlySet<string>;
  /** Followed contracts whose logs were not read. */
  flooding: ReadonlySet<string>;
}

/** Which logs are read of each block, so that those of the receipts can be compared with them. */
export function wantedLogs({ contracts, indexed, fresh, flooding }: ReadLogs): {
  has: (log: RawLog) => boolean;
  mayBeIn: (logsBloom: Buffer) => boolean;
} {
  const own = new Set([contracts.relay, ...contracts.factories.map(({ address }) => address)]);
  const isOwn = (address: string) => indexed.collections.has(address) || fresh.has(address);
  const has = ({ address, topics: [topic = "", ...others] }: RawLog) => {
    if (own.has(address)) return true;
    // Transfers of NFTs have four topics. Queries that name no contract leave all others out.
    if (MOVE_TOPICS.includes(topic) && others.length !== 3) return false;
    if (isOwn(address)) return COLLECTION_TOPICS.includes(topic);
    return indexed.foreign.has(address) && !flooding.has(address) && MOVE_TOPICS.includes(topic);
  };
  const tokens = [...indexed.collections.keys(), ...fresh, ...indexed.foreign.keys()];
  const [ownBits, topicBits] = [[...own].map(bloomBits), COLLECTION_TOPICS.map(bloomBits)];
  const tokenBits = tokens.length > MOST_ADDRESSES ? null : tokens.map(bloomBits);
  const mayBeIn = (logsBloom: Buffer) => {
    const any = (values: readonly (readonly number[])[]) => values.some((bits) => mayHave(logsBloom, bits));
    return any(ownBits) || (tokens.length > 0 && any(topicBits) && (tokenBits === null || any(tokenBits)));
  };
  return { has, mayBeIn };
}

export function areSame(some: readonly RawLog[], others: readonly RawLog[]): boolean {
  return some.length === others.length && some.every((log, index) => isSame(log, others[index]));
}

function isSame(proven: RawLog, read: RawLog | undefined): boolean {
  return (
    read !== undefined &&
    proven.address === read.address &&
    proven.data.toLowerCase() === read.data.toLowerCase() &&
    proven.transactionHash === read.transactionHash &&
    proven.blockHash === read.blockHash &&
    proven.topics.join() === read.topics.join()
  );
}
