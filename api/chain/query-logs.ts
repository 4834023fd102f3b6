import { mapInSlices } from "../shared/in-slices.ts";
import { checksumAddress } from "./values.ts";
import type { ChainClient, LogBlocks, LogFilter } from "./client.ts";
import { MOVE_TOPICS } from "./codec/decode.ts";
import { QueryTooLarge } from "./errors.ts";

/** The range has too many blocks for the provider. `client.logLimits.blocks` is lower now: read a smaller range. */
export class RangeTooLarge extends Error {
  override readonly name = "RangeTooLarge";

  constructor(cause: QueryTooLarge) {
    super("the provider refused a log query; a smaller range of blocks is read", { cause });
  }
}

/** The contracts whose logs are wanted, and the first topics of those logs. */
export interface LogRequest {
  addresses: { readonly size: number; has(address: string): boolean; keys(): Iterable<string> };
  /** Empty: all. */
  topics: readonly string[];
  /** The further topics; null: any. Used only while queries name the addresses. */
  further?: readonly (string | null)[];
  /** Largest answer to one query, in bytes. */
  answerBytes?: number;
  /** Ends the queries early. */
  abort?: AbortSignal;
}

/**
 * Reads logs with as few queries as the provider accepts. Above `topicsAbove` addresses, a query names none of them: the
 * logs of other contracts are dropped here.
 * @throws RangeTooLarge, QueryTooLarge (the provider refuses even the smallest query), RpcError, ChainUnavailable
 */
export async function queryLogs(client: ChainClient, request: LogRequest, blocks: LogBlocks): Promise<RawLog[]> {
  const { addresses } = request;
  if (addresses.size === 0) return [];
  const logs =
    (addresses.size > client.logLimits.topicsAbove ? await byTopics(client, request, blocks) : null) ??
    (await byAddresses(client, request, blocks));
  if ("from" in blocks) client.logLimits.blocks.accepted(blockCount(blocks));
  return logs;
}

/** Null when even one block has too many logs. */
async function byTopics(client: ChainClient, request: LogRequest, blocks: LogBlocks): Promise<RawLog[] | null> {
  const { addresses, answerBytes, abort } = request;
  try {
    const logs: RawLog[] = [];
    for (const topics of wideTopics(request.topics))
      logs.push(...(await client.logs({ topics }, blocks, { answerBytes, abort })));
    return logs.filter((log) => addresses.has(log.address));
  } catch (error) {
    if (!(error instanceof QueryTooLarge)) throw error;
    if (canShrink(client, blocks)) throw new RangeTooLarge(error);
    return null;
  }
}

/** Transfers of NFTs have four topics, those of ERC-20 three: asking for four leaves most logs of a chain out. */
function wideTopics(topics: readonly string[]): LogFilter["topics"][] {
  if (topics.length === 0) return [[]];
  const moves = topics.filter((topic) => MOVE_TOPICS.includes(topic));
  const others = topics.filter((topic) => !MOVE_TOPICS.includes(topic));
  return [...(moves.length > 0 ? [[moves, null, null, null]] : []), ...(others.length > 0 ? [[others]] : [])];
}

async function byAddresses(client: ChainClient, request: LogRequest, blocks: LogBlocks): Promise<RawLog[]> {
  const limit = client.logLimits.addresses;
  const { answerBytes, abort } = request;
  const addresses = [...request.addresses.keys()];
  const topics = request.topics.length === 0 ? [] : [[...request.topics], ...(request.further ?? [])];
  const logs: RawLog[] = [];
  for (let start = 0; start < addresses.length;) {
    const address = addresses.slice(start, start + limit.value);
    try {
      logs.push(...(await client.logs({ address, topics }, blocks, { answerBytes, abort })));
    } catch (error) {
      if (!(error instanceof QueryTooLarge)) throw error;
      // Which of the two is too large is known only where the provider says so.
      const fewerFirst = error.limit === "addresses" && limit.refused(address.length);
      if (fewerFirst) continue;
      if (canShrink(client, blocks)) throw new RangeTooLarge(error);
      if (error.limit !== "addresses" && limit.refused(address.length)) continue;
      throw error;
    }
    limit.accepted(address.length);
    start += address.length;
  }
  return logs;
}

/** Lowers the limit of blocks. False for a single block. */
function canShrink(client: ChainClient, blocks: LogBlocks): boolean {
  return "from" in blocks && client.logLimits.blocks.refused(blockCount(blocks));
}

function blockCount({ from, to }: { from: number; to: number }): number {
  return to - from + 1;
}

/** A log as the node sends it, validated. */
export interface RawLog {
  /** In checksum form (EIP-55). */
  address: string;
  topics: string[];
  data: string;
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  logIndex: number;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const BYTES = /^0x[0-9a-fA-F]*$/;
const QUANTITY = /^0x[0-9a-f]+$/;

/**
 * Validates the answer to a log query. Written by hand and done in slices, because an answer may have a hundred thousand logs.
 * @returns null when the answer is not a list of logs by the Ethereum JSON-RPC specification.
 */
export async function parseLogs(answer: unknown): Promise<RawLog[] | null> {
  if (!Array.isArray(answer)) return null;
  const logs = await mapInSlices(answer as unknown[], parseLog);
  return logs.every((log) => log !== null) ? logs : null;
}

function parseLog(value: unknown): RawLog | null {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Partial<Record<keyof RawLog, unknown>>;
  const { address, topics, data, blockHash, transactionHash } = fields;
  const [blockNumber, logIndex] = [numberOf(fields.blockNumber), numberOf(fields.logIndex)];
  if (!isText(address, ADDRESS) || !isText(data, BYTES)) return null;
  if (!isText(blockHash, HASH) || !isText(transactionHash, HASH) || blockNumber === null || logIndex === null)
    return null;
  if (!Array.isArray(topics) || !topics.every((topic) => isText(topic, HASH))) return null;
  const contract = contractOf(address);
  if (contract === null) return null;
  return { address: contract, topics, data, blockNumber, blockHash, transactionHash, logIndex };
}

/** Null when the text mixes capitals and small letters and its checksum is wrong. */
function contractOf(address: string): string | null {
  try {
    return checksumAddress(address);
  } catch {
    return null;
  }
}

function isText(value: unknown, format: RegExp): value is string {
  return typeof value === "string" && format.test(value);
}

/** A quantity that a JavaScript number holds exactly. */
function numberOf(value: unknown): number | null {
  if (!isText(value, QUANTITY)) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : null;
}
