import { zeroPadValue } from "ethers";

import type { Burn, CollectionType } from "../domain/command.ts";
import type { KnownContract } from "../domain/followed-contract.ts";
import { forEachAtOnce } from "../shared/at-once.ts";
import { abi } from "./abi.ts";
import { boolOf, type CallAnswer, stringOf, wordOf } from "./call-results.ts";
import { type ChainClient, CONTROL_CALL, type ContractCall } from "./client.ts";
import { decodeMoves, MOVE_TOPICS } from "./codec/decode.ts";
import { addressWord, encodeForeignCall, uintWord, wordCall } from "./codec/encode.ts";
import { DelegationProbe } from "./delegation.ts";
import { AMBIGUOUS, AnswerTooLarge, ChainUnavailable, revertOf, RpcError } from "./errors.ts";
import { queryLogs, RangeTooLarge } from "./query-logs.ts";
import { delegateOf } from "./reads.ts";
import type { RpcResult } from "./rpc.ts";
import { cleanText, hex } from "./values.ts";

/**
 * Copies that a wallet holds. Null: an ERC-721 token that does not exist. `failed`: the contract did not answer within the
 * limits. Undefined: the node could not tell.
 */
export type Held = bigint | null | "failed" | undefined;

/** Reads token contracts that are not the service's own, at the newest block. Every call has limits for gas and size. */
export interface ForeignContracts {
  /**
   * In the order of the addresses. Null: there is no contract, or it does not report ERC-721 or ERC-1155 support (ERC-165).
   * ChainUnavailable: the node could not tell, or not before the abort.
   */
  inspect(addresses: readonly string[], abort: AbortSignal): Promise<(KnownContract | null | ChainUnavailable)[]>;
  /** In the order of the queries. Undefined also for those that were not read before the abort. */
  holdings(queries: readonly HoldingQuery[], abort: AbortSignal): Promise<Held[]>;
  /** Whether each contract has a function for the burn. False only if it certainly has none: it reverts without a reason. */
  burnable(burns: readonly Burn[], abort: AbortSignal): Promise<boolean[]>;
  /** Whether wallets can delegate (EIP-7702). True also if the node cannot tell. */
  canDelegate(): Promise<boolean>;
}

const OWNER_OF = abi.erc721.getFunction("ownerOf").selector;
const BALANCE_OF = abi.erc1155.getFunction("balanceOf").selector;
const ERC165 = "0x01ffc9a7";
const ERC721 = "0x80ac58cd";
const ERC1155 = "0xd9b67a26";
const NOTHING = "0xffffffff";
/** Largest answer to a search for the tokens that a wallet has received, in bytes. */
const SEARCH_BYTES = 4 * 1_048_576;
/** One search finds at most this many tokens: the newest. */
const SEARCH_TOKENS = 1_000;
/** Longest search, in milliseconds, where the provider accepts only small ranges of blocks. */
const SEARCH_TIME = 5_000;

/** @param gas gas limit of one call of a contract. */
export function createForeignContracts(client: ChainClient, gas: number): ForeignContracts {
  const delegation = new DelegationProbe(client);
  return {
    inspect: (addresses, abort) => inspectAll(client, addresses, { gas, abort }),
    holdings: (queries, abort) => readHoldings(client, queries, { gas, abort, readAll: true }),
    burnable: (burns, abort) => areBurnable(client, burns, { gas, abort }),
    canDelegate: () => delegation.canDelegate(),
  };
}

/** A few contracts at a time. Addresses without code are sorted out before: they must not use up the time. */
async function inspectAll(
  client: ChainClient,
  addresses: readonly string[],
  bounds: CallBounds,
): Promise<(KnownContract | null | ChainUnavailable)[]> {
  const found = new Array<KnownContract | null | ChainUnavailable>(addresses.length).fill(null);
  let codes: string[];
  try {
    codes = await client.code([...addresses], bounds.abort);
  } catch (error) {
    return found.fill(unavailableOf(error));
  }
  const contracts = [...addresses.entries()].filter(([index]) => isContract(codes[index]));
  await forEachAtOnce(contracts, READS_AT_ONCE, async ([index, address]) => {
    found[index] =
      bounds.abort?.aborted === true
        ? new ChainUnavailable("the contracts could not be read in time")
        : await client.nodes.session(() => inspectContract(client, address, bounds)).catch(unavailableOf);
  });
  return found;
}

/** A node may refuse a call because of its own limits, so its error proves nothing about the contract. */
function unavailableOf(error: unknown): ChainUnavailable {
  if (error instanceof ChainUnavailable) return error;
  if (error instanceof RpcError) {
    return new ChainUnavailable("the node refused a call of a token contract", { cause: error });
  }
  throw error;
}

export interface HoldingQuery {
  contract: string;
  type: CollectionType;
  tokenId: string;
  owner: string;
}

/**
 * Copies held, in the order of the queries. A failing contract or node does not make it throw. What fails is asked of another node,
 * too: a contract that keeps failing is quarantined.
 */
export async function readHoldings(
  client: ChainClient,
  queries: readonly HoldingQuery[],
  bounds: CallBounds,
): Promise<Held[]> {
  const held = await holdingsOfNode(client, queries, bounds);
  const failed = [...held.keys()].filter((index) => held[index] === "failed");
  if (failed.length === 0) return held;
  const asked = failed.flatMap((index) => queries[index] ?? []);
  const again = await client.nodes.second(() => holdingsOfNode(client, asked, bounds));
  for (const [position, index] of failed.entries()) if (again !== null) held[index] = again[position];
  return held;
}

async function holdingsOfNode(
  client: ChainClient,
  queries: readonly HoldingQuery[],
  bounds: CallBounds,
): Promise<Held[]> {
  const calls = queries.map(({ contract, type, tokenId, owner }) => ({
    to: contract,
    data:
      type === "ERC721"
        ? wordCall(OWNER_OF, uintWord(BigInt(tokenId)))
        : wordCall(BALANCE_OF, addressWord(owner), uintWord(BigInt(tokenId))),
  }));
  const answers = await boundedCalls(client, calls, bounds);
  return queries.map((query, index) => {
    const answer = answers[index] ?? "unknown";
    if (answer === "failed") return "failed";
    if (answer === "unknown") return undefined;
    const word = wordOf(textOf(answer));
    if (query.type === "ERC1155") return word ?? 0n;
    if (word === null || word === 0n) return null;
    return word === BigInt(query.owner) ? 1n : 0n;
  });
}

/**
 * Each wallet calls the contract as its delegate would. A contract without the function reverts without data. A contract that
 * refuses the burn may do the same. One that gives a reason has the function; the reason is reported when the request is sent.
 */
async function areBurnable(client: ChainClient, burns: readonly Burn[], bounds: CallBounds): Promise<boolean[]> {
  const calls = burns.map((burn) => ({ from: burn.from, to: burn.contract, data: encodeForeignCall(burn) }));
  const answers = await boundedCalls(client, calls, bounds);
  return answers.map((answer) => !(typeof answer === "object" && "reverted" in answer && answer.reverted === "0x"));
}

/** A call that failed within its limits counts as reverted here: a contract that burns gas supports no standard. */
export function textOf(answer: BoundedAnswer | undefined): CallAnswer {
  if (answer === undefined || answer === "unknown") return undefined;
  return typeof answer === "object" && "returned" in answer ? answer.returned : null;
}

/** @throws ChainUnavailable when the node could not tell. */
export async function inspect(client: ChainClient, address: string, bounds: CallBounds): Promise<KnownContract | null> {
  const [code] = await client.code([address], bounds.abort);
  return isContract(code) ? inspectContract(client, address, bounds) : null;
}

/** A wallet with a delegate (EIP-7702) has code and answers ERC-165, but is not a token contract. */
function isContract(code: string | undefined): boolean {
  return code !== undefined && code !== "0x" && delegateOf(code) === null;
}

/** @throws ChainUnavailable when the node could not tell. */
async function inspectContract(
  client: ChainClient,
  address: string,
  bounds: CallBounds,
): Promise<KnownContract | null> {
  const supports = (interfaceId: string) => ({
    to: address,
    data: abi.erc721.encodeFunctionData("supportsInterface", [interfaceId]),
  });
  const asked = [supports(ERC165), supports(NOTHING), supports(ERC721), supports(ERC1155)];
  const [erc165, nothing, erc721, erc1155] = (await boundedCalls(client, asked, bounds)).map(textOf);
  if ([erc165, nothing, erc721, erc1155].includes(undefined)) {
    throw new ChainUnavailable("the node could not run a call of a token contract");
  }
  if (boolOf(erc165) !== true || boolOf(nothing) === true) return null;
  const type = boolOf(erc721) === true ? "ERC721" : boolOf(erc1155) === true ? "ERC1155" : null;
  if (type === null) return null;
  // Asked alone: a name that is too large takes no other answer with it.
  const [name] = await boundedCalls(client, [{ to: address, data: abi.erc721.encodeFunctionData("name") }], bounds);
  return { type, name: nameOf(textOf(name)) };
}

/** The tokens that a search found, newest first. */
interface Received {
  tokenIds: string[];
  /** The first block that was searched. Above 0: the provider accepts only small ranges, or there are too many tokens. */
  from: number;
}

/**
 * Searches the tokens that the owner received up to a block, the newest 1,000. It asks for all blocks at once; a provider that
 * refuses is asked for the ranges that it accepts, newest first, for a limited time. @throws ChainUnavailable
 */
export async function receivedTokens(
  client: ChainClient,
  { contract, type, owner }: { contract: string; type: CollectionType; owner: string },
  upTo: number,
  abort: AbortSignal,
): Promise<Received> {
  const to = zeroPadValue(owner, 32).toLowerCase();
  const [erc721 = "", ...erc1155] = MOVE_TOPICS;
  const request = {
    addresses: new Set([contract]),
    ...(type === "ERC721" ? { topics: [erc721], further: [null, to] } : { topics: erc1155, further: [null, null, to] }),
    answerBytes: SEARCH_BYTES,
    abort,
  };
  const end = performance.now() + SEARCH_TIME;
  const tokens = new Set<string>();
  let next = upTo;
  for (let size = upTo + 1; next >= 0 && performance.now() < end; size = client.logLimits.blocks.value) {
    const from = Math.max(0, next - size + 1);
    try {
      const logs = await queryLogs(client, request, { from, to: next });
      next = from - 1;
      for (const { tokenId } of logs.reverse().flatMap(decodeMoves)) {
        if (tokens.size === SEARCH_TOKENS) return { tokenIds: [...tokens], from };
        tokens.add(tokenId);
      }
    } catch (error) {
      if (error instanceof RangeTooLarge) continue;
      // The node refuses even small queries. The indexer still follows what the wallet receives from now on.
      if (error instanceof RpcError) break;
      throw error;
    }
  }
  return { tokenIds: [...tokens], from: next + 1 };
}

/** `name` is optional, and some contracts answer it in another shape: then there is none. */
export function nameOf(answer: CallAnswer): string | null {
  const text = stringOf(answer);
  return text === null ? null : cleanText(Array.from(text).slice(0, 256).join(""));
}

/**
 * How a call of a foreign contract ended. `failed`: it ran, but used more than the limits allow, or broke in a way that
 * tells nothing. `unknown`: the node could not run it, so nothing is known about the contract.
 */
export type BoundedAnswer = { returned: string } | { reverted: string } | "failed" | "unknown";

export interface CallBounds {
  /** Gas limit of one call. */
  gas: number;
  /** The block whose state is read, by number or hash; absent: the newest. */
  block?: number | string;
  /** Ends the calls early. Calls without an answer are then `unknown`. */
  abort?: AbortSignal;
  /** Reads all calls of a contract, also after ten of them failed. */
  readAll?: boolean;
}

/** Calls in one HTTP request. An answer that is too large loses only these. */
export const CALLS_AT_ONCE = 10;
/** Largest answer to one such HTTP request, in bytes. */
const ANSWER_BYTES = 1_048_576;
/** Exchanges with contracts of others at the same time. */
export const READS_AT_ONCE = 4;

/**
 * Calls foreign contracts under limits for gas and answer size. No contract affects the answers of another. It never
 * throws because of a contract or of the node: what could not be read is `failed` or `unknown`.
 */
export async function boundedCalls(
  client: ChainClient,
  calls: readonly ContractCall[],
  bounds: CallBounds,
): Promise<BoundedAnswer[]> {
  const answers = new Array<BoundedAnswer>(calls.length).fill("unknown");
  const byContract = Map.groupBy(calls.keys(), (index) => calls[index]?.to).values();
  await forEachAtOnce(byContract, READS_AT_ONCE, async (indexes) => {
    for (let start = 0; start < indexes.length && bounds.abort?.aborted !== true; start += CALLS_AT_ONCE) {
      const part = indexes.slice(start, start + CALLS_AT_ONCE);
      const found = await readPart(
        client,
        part.flatMap((index) => calls[index] ?? []),
        bounds,
      );
      for (const [position, index] of part.entries()) answers[index] = found[position] ?? "unknown";
      // The rest would most likely end the same way, and cost as much again.
      if (found.every((answer) => answer === "unknown" || (answer === "failed" && bounds.readAll !== true))) {
        for (const index of indexes.slice(start + CALLS_AT_ONCE)) answers[index] = found[0] ?? "unknown";
        break;
      }
    }
  });
  return answers;
}

/** One call, alone: an answer that is too large takes no other one with it. @throws ChainUnavailable when the node could not tell */
export async function askContract(client: ChainClient, call: ContractCall, bounds: CallBounds): Promise<CallAnswer> {
  const answer = textOf((await boundedCalls(client, [call], bounds))[0]);
  if (answer === undefined) throw new ChainUnavailable("the node could not run a call of a token contract");
  return answer;
}

/** At most `CALLS_AT_ONCE` calls, in one HTTP request. */
export async function readPart(
  client: ChainClient,
  calls: ContractCall[],
  bounds: CallBounds,
): Promise<BoundedAnswer[]> {
  const found: BoundedAnswer[][] = [];
  try {
    const limits = { bundleSize: CALLS_AT_ONCE + 1, answerBytes: ANSWER_BYTES, abort: bounds.abort };
    // The control call shows whether an unclear error is the node's or the contract's.
    return await client.nodes.session(async () => {
      const results = await client.callsWithin([CONTROL_CALL, ...calls], bounds.block, bounds.gas, limits);
      const [control, ...own] = results;
      const hasState = control?.ok === true && control.value === CONTROL_CALL.data;
      const answers = own.map((result) => answerOf(result, hasState));
      found.push(answers);
      if (hasState || !answers.includes("unknown") || !client.nodes.canMoveOn(NO_STATE)) return answers;
      throw NO_STATE;
    });
  } catch (error) {
    if (error instanceof AnswerTooLarge) return calls.map(() => "failed");
    if (error instanceof ChainUnavailable) return found.at(-1) ?? calls.map(() => "unknown");
    throw error;
  }
}

/** Another node may have it. */
const NO_STATE = new ChainUnavailable("the node does not have the state that is asked for");

/** @param hasState whether the node has the state, so that an unclear error is the contract's. */
function answerOf(result: RpcResult, hasState: boolean): BoundedAnswer {
  if (result.ok) {
    const returned = hex.safeParse(result.value);
    return returned.success ? { returned: returned.data } : "unknown";
  }
  const reverted = revertOf(result.error);
  if (reverted !== null) return reverted;
  const unclear = AMBIGUOUS.has(result.error.code) || result.error.data !== null;
  return unclear && hasState ? "failed" : "unknown";
}
