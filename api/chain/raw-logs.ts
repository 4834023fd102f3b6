import { mapInSlices } from "../shared/in-slices.ts";
import { checksumAddress } from "./checksum-address.ts";

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
