import { toQuantity, type Transaction } from "ethers";
import { z } from "zod";

import type { CallAnswer } from "./call-results.ts";
import {
  AMBIGUOUS,
  AnswerTooLarge,
  ChainUnavailable,
  QueryTooLarge,
  ranAndReverted,
  revertOf,
  RpcError,
} from "./errors.ts";
import { hash, hex, hexQuantity, small, stateAt } from "./values.ts";
import { type LogLimits, refusedQuery } from "./limits.ts";
import { parseLogs, type RawLog } from "./query-logs.ts";
import { readTransaction, type Receipt, receipt } from "./transaction.ts";
import type { Priority } from "./node-budget.ts";
import { Nodes } from "./nodes.ts";
import { type RpcBounds, type RpcCall, type RpcResult, valuesOf } from "./rpc.ts";

const anyObject = z.custom<object>((answer) => typeof answer === "object" && answer !== null);
const block = z.object({
  number: small,
  hash,
  parentHash: hash,
  timestamp: small,
  baseFeePerGas: hexQuantity.optional(),
  gasLimit: hexQuantity,
});
export interface Block extends z.infer<typeof block> {
  /** With all fields that the node showed, if `blocks` or `headAnd` read it. */
  shown?: object;
}

/** The gas that a call needs, or its revert data. Null: the node cannot tell. */
export type CallResult = { gas: bigint } | { reverted: string } | null;

export interface LogFilter {
  /** Absent: any contract. */
  address?: string[];
  topics: (string | string[] | null)[];
}

/** A range of blocks, or single blocks by their hashes. */
export type LogBlocks = { from: number; to: number } | { hashes: string[] };

export interface ContractCall {
  to: string;
  data: string;
  from?: string;
  /** Its gas limit, in hexadecimal; absent: the node's own. */
  gas?: string;
}

/** A call of a known sender, whose gas is asked for. */
export type SenderCall = Required<Omit<ContractCall, "gas">>;

/** The RPC calls that the service makes. Every answer is validated before use. */
export class ChainClient {
  /** Which node answers. */
  readonly nodes: Nodes;
  readonly #priority: Priority;

  /** @param nodes or the URL of the only one. */
  constructor(nodes: Nodes | string, priority: Priority = "past") {
    this.nodes = typeof nodes === "string" ? new Nodes([nodes]) : nodes;
    this.#priority = priority;
  }

  /** The same client for others: while a provider limits the rate of calls, theirs come first or last. */
  as(priority: Priority): ChainClient {
    return new ChainClient(this.nodes, priority);
  }

  #bundle(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    return this.nodes.bundle(calls, { priority: this.#priority, ...bounds });
  }

  /** For calls that must all succeed. @throws RpcError, ChainUnavailable */
  async #all(calls: RpcCall[], bounds?: RpcBounds): Promise<unknown[]> {
    return valuesOf(await this.#bundle(calls, bounds));
  }

  /** One call, whose answer is not validated. @throws RpcError, ChainUnavailable */
  async call(method: string, params: unknown[], bounds?: RpcBounds): Promise<unknown> {
    return (await this.#all([{ method, params }], bounds))[0];
  }

  /** One call for each list of parameters. @throws RpcError, ChainUnavailable with this problem when an answer is not valid */
  async #ask<T>(
    method: string,
    params: readonly unknown[][],
    schema: z.ZodType<T>,
    { problem, ...bounds }: RpcBounds & { problem?: string } = {},
  ): Promise<T[]> {
    const calls = params.map((one) => ({ method, params: one }));
    return valuesOf(await this.#bundle(calls, bounds)).map((answer) => parse(schema, answer, problem));
  }

  /** What the node that is read now accepts. */
  get logLimits(): LogLimits {
    return this.nodes.learnt.logLimits;
  }

  /**
   * Asks another working node about a block, as a second opinion. Null: no other node answers, or it has another block at that
   * height.
   */
  async secondAt<T>(block: number, work: () => Promise<T>): Promise<T | null> {
    if (this.nodes.count === 1) return null;
    const [own] = await this.blocks([block]);
    return this.nodes.second(async () => {
      const [other] = await this.blocks([block]);
      return own != null && own.hash === other?.hash ? work() : null;
    });
  }

  async chainId(): Promise<bigint> {
    return parse(hexQuantity, await this.call("eth_chainId", []));
  }

  async headNumber(): Promise<number> {
    return parse(small, await this.call("eth_blockNumber", []));
  }

  /** The number of the newest block, and the blocks at some heights, in one round trip. See `blocks`. */
  async headAnd(heights: number[]): Promise<{ head: number; blocks: (Block | null)[] }> {
    const [head, ...answers] = await this.#all([{ method: "eth_blockNumber", params: [] }, ...blocksAt(heights)]);
    return { head: parse(small, head), blocks: answers.map(readBlock) };
  }

  /** Null for a block that the node does not have (yet, or any more). */
  async blocks(numbers: number[]): Promise<(Block | null)[]> {
    return (await this.#all(blocksAt(numbers))).map(readBlock);
  }

  /** Blocks with all fields that the node shows. @throws ChainUnavailable when it does not have one of them. */
  async rawBlocks(numbers: number[]): Promise<object[]> {
    const problem = "the node does not have a block below its own head: it is not in sync";
    return (await this.#all(blocksAt(numbers))).map((answer) => parse(anyObject, answer, problem));
  }

  /** The receipts of a block with all fields that the node shows. @throws AnswerTooLarge, RpcError, ChainUnavailable */
  async blockReceipts(blockHash: string): Promise<object[]> {
    const bounds = { answerBytes: MAX_RECEIPTS, problem: NO_RECEIPTS };
    return (await this.#ask("eth_getBlockReceipts", [[blockHash]], z.array(anyObject), bounds)).flat();
  }

  /** As `blockReceipts`, with a call for each transaction. */
  rawReceipts(hashes: string[]): Promise<object[]> {
    const bounds = { answerBytes: MAX_RECEIPTS, problem: NO_RECEIPTS };
    return this.#ask("eth_getTransactionReceipt", alone(hashes), anyObject, bounds);
  }

  async latestBlock(): Promise<Block> {
    return parse(block, await this.call("eth_getBlockByNumber", ["latest", false]));
  }

  /**
   * Asked for a block by its hash, a node without the block answers with an error; a range query would give no logs.
   * @throws QueryTooLarge
   */
  async logs(filter: LogFilter, blocks: LogBlocks, bounds?: RpcBounds): Promise<RawLog[]> {
    const places =
      "from" in blocks
        ? [{ fromBlock: toQuantity(blocks.from), toBlock: toQuantity(blocks.to) }]
        : blocks.hashes.map((blockHash) => ({ blockHash }));
    const queries = places.map((place) => ({ ...filter, ...place }));
    const calls = queries.map((query) => ({ method: "eth_getLogs", params: [query] }));
    const results = await this.#bundle(calls, bounds).catch((error: unknown) => {
      if (error instanceof AnswerTooLarge) throw new QueryTooLarge(new RpcError(413, error.message, null), "results");
      throw error;
    });
    const logs: RawLog[][] = [];
    for (const result of results) {
      if (!result.ok) throw refusedQuery(result.error);
      logs.push((await parseLogs(result.value)) ?? invalid());
    }
    return logs.flat();
  }

  async receipts(hashes: string[]): Promise<(Receipt | null)[]> {
    const receipts = await this.#ask("eth_getTransactionReceipt", alone(hashes), receipt.nullish());
    return receipts.map((one) => one ?? null);
  }

  /** Signed transactions by hash. Null: the node does not have it. Undefined: it has a type that the service never sends. */
  async transactions(hashes: string[]): Promise<(Transaction | null | undefined)[]> {
    const answers = await this.#ask("eth_getTransactionByHash", alone(hashes), z.unknown());
    return answers.map((answer, index) => readTransaction(answer, hashes[index]));
  }

  /** @param at the number of a block or its hash; absent: the newest. */
  code(addresses: string[], abort?: AbortSignal, at?: number | string): Promise<string[]> {
    const params = addresses.map((address) => [address, stateAt(at)]);
    return this.#ask("eth_getCode", params, hex, { abort });
  }

  /** A word of the storage of each contract. @param place 32 bytes, hex. @param at see `code`. */
  storage(addresses: string[], place: string, abort?: AbortSignal, at?: number | string): Promise<string[]> {
    const params = addresses.map((address) => [address, place, stateAt(at)]);
    return this.#ask("eth_getStorageAt", params, hex, { abort });
  }

  async balance(account: string): Promise<bigint> {
    return (await this.balances([account]))[0] ?? 0n;
  }

  balances(accounts: string[]): Promise<bigint[]> {
    const params = accounts.map((account) => [account, "latest"]);
    return this.#ask("eth_getBalance", params, hexQuantity);
  }

  /** Number of mined transactions of each account; with `pending` also those in the node's transaction pool. */
  nonces(accounts: string[], blockTag: number | "latest" | "pending" = "latest"): Promise<number[]> {
    const at = typeof blockTag === "string" ? blockTag : toQuantity(blockTag);
    const params = accounts.map((account) => [account, at]);
    return this.#ask("eth_getTransactionCount", params, small);
  }

  /** As `nonces`, but the highest that any of the nodes that answer names: a node can miss a transaction, but not invent one. */
  async highestNonces(accounts: string[], blockTag: "latest" | "pending" = "latest"): Promise<number[]> {
    const answers = await this.nodes.each(() => this.nonces(accounts, blockTag));
    return accounts.map((_, index) => Math.max(...answers.map((nonces) => nonces[index] ?? 0)));
  }

  /**
   * As `highestNonces`, but of several answers the second highest counts: one node that names a far too high nonce must not
   * stop a lane for ever. A nonce that is too low only costs a refused transaction. Do not use it for a check that must not miss a
   * transaction.
   */
  async reachedNonces(accounts: string[]): Promise<number[]> {
    const answers = await this.nodes.each(() => this.nonces(accounts));
    return accounts.map((_, index) => {
      const highestFirst = answers.map((nonces) => nonces[index] ?? 0).sort((a, b) => b - a);
      return highestFirst[answers.length > 1 ? 1 : 0] ?? 0;
    });
  }

  /** What transactions pay above the base fee, in wei. With several nodes: not far more than another one names. */
  priorityFee(): Promise<bigint> {
    return this.nodes.session(() => this.nodes.price(() => this.#priorityFee()));
  }

  /** The node's suggestion. Some chains have none: then the median of recent blocks, or else the gas price without the base fee. */
  async #priorityFee(): Promise<bigint> {
    return (await this.#suggestedFee()) ?? (await this.#recentFee()) ?? this.#feeInGasPrice();
  }

  async #suggestedFee(): Promise<bigint | null> {
    const { learnt } = this.nodes;
    if (!learnt.suggestsFee) return null;
    const [result] = await this.#bundle([{ method: "eth_maxPriorityFeePerGas", params: [] }]);
    if (result?.ok === true) return parse(hexQuantity, result.value, NO_FEES);
    learnt.suggestsFee = result?.error.code !== METHOD_NOT_FOUND;
    return null;
  }

  async #recentFee(): Promise<bigint | null> {
    const [result] = await this.#bundle([{ method: "eth_feeHistory", params: [HISTORY_BLOCKS, "latest", [50]] }]);
    if (result?.ok !== true) return null;
    const rewards = (parse(feeHistory, result.value, NO_FEES).reward ?? []).flat().filter((reward) => reward > 0n);
    rewards.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return rewards[Math.floor(rewards.length / 2)] ?? null;
  }

  async #feeInGasPrice(): Promise<bigint> {
    const [price, newest] = await this.#all([
      { method: "eth_gasPrice", params: [] },
      { method: "eth_getBlockByNumber", params: ["latest", false] },
    ]);
    const tip = parse(hexQuantity, price, NO_FEES) - (parse(pricedBlock, newest, NO_FEES).baseFeePerGas ?? 0n);
    return tip > 0n ? tip : 0n;
  }

  /**
   * @returns what each call returns; null when it reverts or the function does not exist; undefined when the node could not
   *   run it, so that nothing is known.
   */
  tryCalls(calls: ContractCall[], blockNumber?: number, bounds: RpcBounds = {}): Promise<CallAnswer[]> {
    const at = stateAt(blockNumber);
    const run = (some: ContractCall[]) =>
      this.#bundle(
        some.map((call) => ({ method: "eth_call", params: [call, at] })),
        bounds,
      );
    return this.nodes.session(() => answersOf(calls, run));
  }

  /**
   * Runs calls with a gas limit each, within bounds for the answers.
   * @param block see `code`. @param gas of calls that name none. @throws ChainUnavailable, AnswerTooLarge
   */
  callsWithin(
    calls: ContractCall[],
    block: number | string | undefined,
    gas: number,
    bounds: RpcBounds,
  ): Promise<RpcResult[]> {
    const at = stateAt(block);
    const limited = calls.map((call) => ({ method: "eth_call", params: [{ gas: toQuantity(gas), ...call }, at] }));
    return this.#bundle(limited, bounds);
  }

  /**
   * Calls an account as if it had other code, under the rules of the next block where the node can.
   * @returns what the code returns; null when it reverts, or when the node does not support such calls.
   */
  async callWithCode(to: string, code: string, gas: number): Promise<string | null> {
    const results = await this.#bundle(
      ["pending", "latest"].map((tag) => ({
        method: "eth_call",
        params: [{ to, gas: toQuantity(gas) }, tag, { [to]: { code } }],
      })),
    );
    const found = results.find((result) => result.ok);
    return found?.ok === true ? parse(hex, found.value) : null;
  }

  /** Whether a transaction may have this gas limit. @throws ChainUnavailable */
  async acceptsGas(gas: number): Promise<boolean> {
    // Creates a contract whose code only uses memory: its price grows with the square of the size.
    const size = Math.floor(memoryWords(gas - CREATION_GAS)) * 32;
    const data = `0x600163${size.toString(16).padStart(8, "0")}5200`;
    const [result] = await this.#bundle([{ method: "eth_estimateGas", params: [{ data, gas: toQuantity(gas) }] }]);
    return result?.ok === true;
  }

  /**
   * Simulates each call as a separate transaction on top of a block.
   * @param maxGas gas limit of each call, so that a hostile receiver cannot make the node work without end.
   * @param abort ends the wait for the answer.
   */
  async simulateCalls(
    calls: SenderCall[],
    blockNumber: number,
    maxGas: number,
    abort?: AbortSignal,
  ): Promise<CallResult[]> {
    const [at, gas] = [toQuantity(blockNumber), toQuantity(maxGas)];
    const requests: RpcCall[] = calls.map((call) => ({ method: "eth_estimateGas", params: [{ ...call, gas }, at] }));
    const results = await this.#bundle(requests, { answerBytes: MAX_SIMULATION_ANSWER, abort });
    return results.map((result) => (result.ok ? { gas: parse(hexQuantity, result.value) } : revertOf(result.error)));
  }

  /**
   * Gas of calls as separate transactions, under the rules of the next block where the node can: a hard fork may begin with it.
   * @param most gas limit of each. @returns null for a call that fails.
   */
  async estimateNext(calls: SenderCall[], most: number): Promise<(bigint | null)[]> {
    const gas = toQuantity(most);
    const tags = ["pending", "latest"];
    const requests = tags.flatMap((tag) =>
      calls.map((call) => ({ method: "eth_estimateGas", params: [{ ...call, gas }, tag] })),
    );
    const results = await this.#bundle(requests);
    return calls.map((_call, index) => {
      const found = tags.map((_tag, at) => results[at * calls.length + index]).find((result) => result?.ok === true);
      return found?.ok === true ? parse(hexQuantity, found.value) : null;
    });
  }

  /** Sends signed bytes to the nodes. @throws RpcError, ChainUnavailable: neither proves that no node took them. */
  broadcast(raw: string): Promise<void> {
    return this.nodes.broadcast(raw);
  }
}

/** Longest answer to simulations, in bytes. Foreign code decides how long its revert data is. */
export const MAX_SIMULATION_ANSWER = 8 * 1024 * 1024;

/** Longest answer with the receipts of a block, in bytes. */
export const MAX_RECEIPTS = 64 * 1024 * 1024;
const NO_RECEIPTS = "the node does not have the receipts of a block";

/** The identity precompile returns its input on every node that has the state of the block. */
export const CONTROL_CALL: ContractCall = { to: "0x0000000000000000000000000000000000000004", data: "0x6d6f6e657461" };

/** See `tryCalls`. */
async function answersOf(
  calls: ContractCall[],
  run: (calls: ContractCall[]) => Promise<RpcResult[]>,
): Promise<CallAnswer[]> {
  const results = await run(calls);
  const answers = results.map((result) => (result.ok ? parse(hex, result.value) : ranAndReverted(result.error)));
  // Some nodes use one code both for a call that ran out of gas and for a block whose state they do not have.
  const unclear = results.flatMap((result, index) => (!result.ok && AMBIGUOUS.has(result.error.code) ? [index] : []));
  const open = unclear.filter((index) => answers[index] === undefined);
  if (open.length > 0) {
    const [control, ...again] = await run([CONTROL_CALL, ...open.flatMap((index) => calls[index] ?? [])]);
    const hasState = control?.ok === true && control.value === CONTROL_CALL.data;
    for (const [position, result] of again.entries()) {
      const index = open[position];
      if (index === undefined) continue;
      if (result.ok) answers[index] = parse(hex, result.value);
      else if (hasState && AMBIGUOUS.has(result.error.code)) answers[index] = null;
    }
  }
  return answers;
}

function blocksAt(heights: number[]): RpcCall[] {
  return heights.map((height) => ({ method: "eth_getBlockByNumber", params: [toQuantity(height), false] }));
}

function readBlock(answer: unknown): Block | null {
  const read = parse(block.nullable(), answer);
  return read === null ? null : { ...read, shown: answer as object };
}

/** Each as the only parameter of a call. */
function alone(hashes: string[]): string[][] {
  return hashes.map((hash) => [hash]);
}

/** Gas of a contract creation without its memory, rounded up generously. */
const CREATION_GAS = 300_000;

/** Words of memory whose use costs this much gas: 3 for each word, and the square of their number divided by 512. */
function memoryWords(gas: number): number {
  return 256 * (Math.sqrt(9 + gas / 128) - 3);
}

function parse<T>(schema: z.ZodType<T>, answer: unknown, problem?: string): T {
  const parsed = schema.safeParse(answer);
  return parsed.success ? parsed.data : invalid(problem);
}

function invalid(problem = "the node's answer is not valid by the Ethereum JSON-RPC specification"): never {
  throw new ChainUnavailable(problem);
}

/** Blocks whose fees are read when the node suggests no priority fee. */
const HISTORY_BLOCKS = "0x14";
const NO_FEES = "the node's answer about fees is not valid: check the node";
/** JSON-RPC code of a method that the node does not have. */
const METHOD_NOT_FOUND = -32_601;

const feeHistory = z.object({ reward: z.array(z.array(hexQuantity)).nullish() });
const pricedBlock = z.object({ baseFeePerGas: hexQuantity.optional() });
