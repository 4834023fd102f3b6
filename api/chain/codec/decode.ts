import { AbiCoder, type ErrorDescription, id, type Interface, ZeroAddress } from "ethers";

import { callsReceiver, type Command } from "../../domain/command.ts";
import type { FieldError, RequestFailureCode } from "../../domain/error-codes.ts";
import type { TokenMove } from "../../domain/token.ts";
import { abi } from "../abi.ts";
import { checksumAddress, cleanText, textOfBytes } from "../values.ts";
import type { RawLog } from "../query-logs.ts";

/** Position of a log in the chain. */
interface LogPosition {
  blockNumber: number;
  transactionHash: string;
  logIndex: number;
}

export type RelayEvent = LogPosition &
  (
    | { kind: "batch-executed"; executed: number }
    | { kind: "call-failed"; number: bigint; reason: string }
    | { kind: "call-skipped"; number: bigint }
    | { kind: "number-cancelled"; number: bigint }
  );

export type CollectionEvent = LogPosition & { contract: string } & (
    | { kind: "owner-changed"; owner: string }
    | { kind: "minter-set"; minter: string; allowed: boolean }
    | { kind: "cap-lowered"; maxSupply: number | null }
    | { kind: "base-uri-changed"; baseUri: string }
    | { kind: "metadata-frozen" }
    | { kind: "royalty-frozen" }
    | { kind: "token-uri-changed"; tokenId: string; uri: string }
  );

const TRANSFER = id("Transfer(address,address,uint256)");
const TRANSFER_SINGLE = id("TransferSingle(address,address,address,uint256,uint256)");
const TRANSFER_BATCH = id("TransferBatch(address,address,address,uint256[],uint256[])");
/** ERC-2309: ids that a contract gives away one after the other, without a `Transfer` for each. */
const CONSECUTIVE_TRANSFER = id("ConsecutiveTransfer(uint256,uint256,address,address)");
/** Most ids in such a log. Contracts make at most 5,000 at a time. */
const MOST_CONSECUTIVE = 10_000;

const collectionTopics = {
  owner: abi.erc721.getEvent("OwnershipTransferred").topicHash,
  minter: abi.erc721.getEvent("MinterSet").topicHash,
  cap: abi.erc721.getEvent("MaxSupplyLowered").topicHash,
  baseUri: abi.erc721.getEvent("BaseURIUpdated").topicHash,
  tokenUri: abi.erc1155.getEvent("URI").topicHash,
  metadataFrozen: abi.erc721.getEvent("MetadataFrozen").topicHash,
  royaltyFrozen: abi.erc721.getEvent("RoyaltyFrozen").topicHash,
} as const;

/** Topics of the transfer events of ERC-721 and ERC-1155. */
export const MOVE_TOPICS = [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH, CONSECUTIVE_TRANSFER];
/** Topics of the service's own collections. */
export const COLLECTION_TOPICS = [...MOVE_TOPICS, ...Object.values(collectionTopics)];

/** Bytes of a batch without moves: the places and the lengths of its two arrays. A move adds an id and a quantity. */
const EMPTY_BATCH = 128;
const MOVE_BYTES = 64;
const WORD = 32;

/** The word of some ABI data that begins at a byte, as hex; the bytes that are missing are left out. */
function wordAt(data: string, byte: number): string {
  return `0x${data.slice(2 + 2 * byte, 2 + 2 * (byte + WORD))}`;
}

/**
 * An array of numbers in the ABI data of an event: its parameter number `index`. By hand, because a log may have thousands: ethers
 * takes 0.1 ms for each. Null when the data end before the array does.
 */
function numbersAt(data: string, index: number): bigint[] | null {
  const bytes = (data.length - 2) / 2;
  const has = (words: number, from: number) => from + words * WORD <= bytes;
  if (!has(index + 1, 0)) return null;
  const start = Number(wordAt(data, index * WORD));
  if (!has(1, start)) return null;
  const length = Number(wordAt(data, start));
  if (!has(length + 1, start)) return null;
  return Array.from({ length }, (_, item) => BigInt(wordAt(data, start + (item + 1) * WORD)));
}

/**
 * How much a transfer log counts against limits, undecoded: its moves, and at least one for each 64 bytes of data. So data that
 * cannot be decoded counts too, and so do arrays that share their bytes.
 */
export function moveCountOf({ topics, data }: Pick<RawLog, "topics" | "data">): number {
  const bytes = (data.length - 2) / 2;
  const bySize = Math.max(1, Math.ceil((bytes - EMPTY_BATCH) / MOVE_BYTES));
  if (topics[0] === CONSECUTIVE_TRANSFER)
    return Math.min(MOST_CONSECUTIVE, Math.max(1, Number(consecutive(topics, data))));
  if (topics[0] !== TRANSFER_BATCH) return bySize;
  const length = Number(wordAt(data, Number(wordAt(data, 0))));
  return length <= bytes / WORD ? Math.max(bySize, length) : bySize;
}

/**
 * The moves of a log, folded: a batch that names an id several times is one move of the sum, in the place of the first. A log
 * that only looks like a transfer (ERC-20, or malformed data) gives no moves.
 */
export function decodeMoves(log: RawLog): TokenMove[] {
  const move = (from: string, to: string, tokenId: bigint, quantity: bigint, subIndex: number): TokenMove => ({
    ...positionOf(log),
    contract: log.address,
    tokenId: tokenId.toString(),
    quantity: quantity.toString(),
    from: from === ZeroAddress ? null : from,
    to: to === ZeroAddress ? null : to,
    subIndex,
  });
  const [topic, second, third, fourth] = log.topics;
  if (second === undefined || third === undefined || fourth === undefined) return [];
  if (topic === TRANSFER) return [move(topicAddress(second), topicAddress(third), BigInt(fourth), 1n, 0)];
  const [from, to] = [topicAddress(third), topicAddress(fourth)];
  if (topic === TRANSFER_SINGLE) {
    const decoded = decode(["uint256", "uint256"], log.data) as [bigint, bigint] | null;
    if (decoded === null || decoded[1] === 0n) return [];
    return [move(from, to, decoded[0], decoded[1], 0)];
  }
  if (topic === TRANSFER_BATCH) {
    const [ids, quantities] = [numbersAt(log.data, 0), numbersAt(log.data, 1)];
    if (ids === null || ids.length !== quantities?.length) return [];
    const folded = new Map<bigint, { quantity: bigint; place: number }>();
    for (const [place, tokenId] of ids.entries()) {
      const quantity = quantities[place] ?? 0n;
      const known = folded.get(tokenId);
      if (known !== undefined) known.quantity += quantity;
      else if (quantity !== 0n) folded.set(tokenId, { quantity, place });
    }
    return Array.from(folded, ([tokenId, { quantity, place }]) => move(from, to, tokenId, quantity, place));
  }
  if (topic === CONSECUTIVE_TRANSFER) {
    const count = consecutive(log.topics, log.data);
    if (count > MOST_CONSECUTIVE) return [];
    return Array.from({ length: Math.max(0, Number(count)) }, (_, place) =>
      move(from, to, BigInt(second) + BigInt(place), 1n, place),
    );
  }
  return [];
}

/** How many ids a `ConsecutiveTransfer` names. */
function consecutive([, first = "0x0"]: readonly string[], data: string): bigint {
  const last = wordAt(data, 0);
  return last.length === 2 + 2 * WORD ? BigInt(last) - BigInt(first) + 1n : 0n;
}

/**
 * The topics of the sender and the recipient of a transfer log, undecoded, so that logs of strangers cost nothing more. Null
 * when the log only looks like a transfer.
 */
export function partiesOf({ topics: [topic, first, second, third] }: RawLog): [string, string] | null {
  if (first === undefined || second === undefined || third === undefined) return null;
  return topic === TRANSFER ? [first, second] : [second, third];
}

export function decodeRelayEvent(log: RawLog): RelayEvent | null {
  const parsed = abi.relay.parseLog({ topics: log.topics, data: log.data });
  if (parsed === null) return null;
  const at = positionOf(log);
  const number = () => parsed.args["number"] as bigint;
  switch (parsed.name) {
    case "BatchExecuted":
      return { kind: "batch-executed", ...at, executed: Number(parsed.args["executed"] as bigint) };
    case "CallFailed":
      return { kind: "call-failed", ...at, number: number(), reason: parsed.args["reason"] as string };
    case "CallSkipped":
      return { kind: "call-skipped", ...at, number: number() };
    case "NumberCancelled":
      return { kind: "number-cancelled", ...at, number: number() };
    default:
      return null;
  }
}

/**
 * Changes by the owner of one of the service's collections that the service must know. Owners choose the texts, which may
 * not be valid UTF-8, so they are decoded as bytes.
 */
export function decodeCollectionEvent(log: RawLog): CollectionEvent | null {
  const [topic, first, second] = log.topics;
  const at = { ...positionOf(log), contract: log.address };
  switch (topic) {
    case collectionTopics.owner:
      return second === undefined ? null : { kind: "owner-changed", ...at, owner: topicAddress(second) };
    case collectionTopics.minter: {
      const [allowed] = decode(["bool"], log.data) ?? [];
      if (first === undefined || typeof allowed !== "boolean") return null;
      return { kind: "minter-set", ...at, minter: topicAddress(first), allowed };
    }
    case collectionTopics.cap: {
      const [, maxSupply] = decode(["uint256", "uint256"], log.data) ?? [];
      return typeof maxSupply === "bigint" ? { kind: "cap-lowered", ...at, maxSupply: reachable(maxSupply) } : null;
    }
    case collectionTopics.baseUri: {
      const [uri] = decode(["bytes"], log.data) ?? [];
      return typeof uri === "string" ? { kind: "base-uri-changed", ...at, baseUri: uriOf(uri) } : null;
    }
    case collectionTopics.metadataFrozen:
      return { kind: "metadata-frozen", ...at };
    case collectionTopics.royaltyFrozen:
      return { kind: "royalty-frozen", ...at };
    case collectionTopics.tokenUri: {
      const [uri] = decode(["bytes"], log.data) ?? [];
      if (first === undefined || typeof uri !== "string") return null;
      return { kind: "token-uri-changed", ...at, tokenId: BigInt(first).toString(), uri: uriOf(uri) };
    }
    default:
      return null;
  }
}

/** At most this many bytes are kept of a URI that a collection's outside owner wrote to the chain. */
const MAX_CHAIN_URI_BYTES = 65_536;

/**
 * The text of a URI. Outside owners choose it, and each token of a page repeats it, so a longer one ends at
 * `MAX_CHAIN_URI_BYTES`.
 */
function uriOf(bytes: string): string {
  return textOfBytes(bytes.slice(0, 2 + 2 * MAX_CHAIN_URI_BYTES));
}

/** A cap that a JavaScript number cannot hold exactly is unreachable, and counts as unlimited. */
function reachable(maxSupply: bigint): number | null {
  return maxSupply <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(maxSupply) : null;
}

/** A collection that the factory created, with the number of its request. */
export function decodeCreated(log: RawLog): { number: bigint; collection: string } | null {
  const parsed = abi.factory.parseLog({ topics: log.topics, data: log.data });
  if (parsed?.name !== "CollectionCreated") return null;
  return {
    number: parsed.args["number"] as bigint,
    collection: parsed.args["collection"] as string,
  };
}

export const CREATED_TOPIC = abi.factory.getEvent("CollectionCreated").topicHash;

function positionOf(log: RawLog): LogPosition {
  return { blockNumber: log.blockNumber, transactionHash: log.transactionHash, logIndex: log.logIndex };
}

export function topicAddress(topic: string): string {
  return checksumAddress(`0x${topic.slice(26)}`);
}

function decode(types: string[], data: string): unknown[] | null {
  try {
    return AbiCoder.defaultAbiCoder().decode(types, data).toArray(true) as unknown[];
  } catch {
    // A contract may emit any data under a standard topic. Data that cannot be decoded moves nothing.
    return null;
  }
}

/** Error codes of requests for the contracts' custom errors. All others are `execution_reverted`. */
const MEANINGS: Record<string, RequestFailureCode> = {
  ERC721InvalidReceiver: "receiver_rejected",
  ERC1155InvalidReceiver: "receiver_rejected",
  CollectionUnauthorizedMinter: "service_cannot_mint",
  ERC721ExceededMaxSupply: "supply_exceeded",
  ERC1155ExceededMaxSupply: "supply_exceeded",
  ERC1155AlreadyCreated: "token_already_exists",
  ERC721IncorrectOwner: "insufficient_balance",
  ERC721NonexistentToken: "insufficient_balance",
  ERC1155InsufficientBalance: "insufficient_balance",
};

const INTERFACES: Interface[] = [abi.erc721, abi.erc1155, abi.relay, abi.delegate, abi.factory];

/** Why a call failed, or would fail. */
export interface CallFailure {
  errorCode: RequestFailureCode;
  errors: FieldError[];
}

/** Errors built into Solidity. The service's contracts never use them on purpose. */
const BUILT_IN = new Set(["Error", "Panic"]);

/**
 * Decodes why a call failed.
 * @param reason revert data as the relay reports it, cut at 256 bytes.
 * @param command the command of the call. If it calls a receiver hook, an error that is not the collection's own comes from
 *   the receiver.
 */
export function decodeRevert(reason: string, command: Command): CallFailure {
  const error = parseError(reason);
  const unknown = error === null ? reason !== "0x" : BUILT_IN.has(error.name);
  const otherwise = unknown && callsReceiver(command) ? "receiver_rejected" : "execution_reverted";
  const errorCode = (error !== null ? MEANINGS[error.name] : undefined) ?? otherwise;
  return failureOf(errorCode, describe(error, reason));
}

/** The failure of a call as the app sees it. */
export function failureOf(errorCode: RequestFailureCode, message: string): CallFailure {
  return { errorCode, errors: [{ field: "transaction", code: errorCode, message }] };
}

/**
 * Whether a call failed without a reason: it ran out of gas, or it called code that said nothing. A creation passes nearly all of
 * its gas on to the new contract, a wallet's delegate to a contract of others.
 */
export function saysNothing(reason: string): boolean {
  return reason === "0x" || SILENT.has(parseError(reason)?.name ?? "");
}

const SILENT = new Set(["FailedDeployment", "FailedCall"]);

/** The failure of a mint in a collection that no longer lets the relay mint. */
export function minterRemoved(relay: string, command: Command): CallFailure {
  return decodeRevert(abi.erc721.encodeErrorResult("CollectionUnauthorizedMinter", [relay]), command);
}

/** What revert data say, cut at 256 bytes like a reason that the relay reports. */
export function revertText(reason: string): string {
  return describe(parseError(reason), reason);
}

function describe(error: ErrorDescription | null, reason: string): string {
  if (error !== null) return cleanText(`${error.name}(${error.args.map(String).join(", ")})`);
  if (reason === "0x") return "The contract call reverted without a reason.";
  return `The contract call reverted with unknown data: ${reason.slice(0, 74)}.`;
}

function parseError(reason: string): ErrorDescription | null {
  for (const contract of INTERFACES) {
    try {
      const parsed = contract.parseError(reason);
      if (parsed === null) continue;
      // ethers decodes text lazily and throws on access if it is not UTF-8: access it here.
      parsed.args.toArray(true);
      return parsed;
    } catch {
      // The selector is known, but the arguments are cut or invalid: the name alone proves nothing.
      return null;
    }
  }
  return null;
}
