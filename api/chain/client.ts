import { toQuantity, type Transaction } from "ethers";
import { z } from "zod";

import type { CallAnswer } from "./call-results.ts";
import { AMBIGUOUS, ChainUnavailable, ranAndReverted, revertOf, RpcError } from "./errors.ts";
import { hash, hex, hexQuantity, small, stateAt } from "./values.ts";
import { askForLogs, createLogLimits, LOG_QUERY_SIZES, type LogLimits, type LogQuerySizes } from "./limits.ts";
import { parseLogs, type RawLog } from "./query-logs.ts";
import { readTransaction, type Receipt, receipt } from "./transaction.ts";
import type { NodeChoice } from "./node-choice.ts";
import type { Priority } from "./node-budget.ts";
import { BoundedCalls, type RpcBounds, type RpcCall, type RpcCalls, type RpcResult } from "./rpc.ts";

const block = z.object({
  number: small,
  hash,
  parentHash: hash,
  timestamp: small,
  baseFeePerGas: hexQuantity.optional(),
  gasLimit: hexQuantity,
});
export type Block = z.infer<typeof block>;

/** The blocks of `client.blocks` with all fields that the node showed. */
const shown = new WeakMap<Block, object>();

/** A block with all fields that the node showed, if `client.blocks` read it. */
export function shownBlock(of: Block): object | undefined {
  return shown.get(of);
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

/** What one node has shown. */
interface Learnt {
  logLimits: LogLimits;
  priorityFee: PriorityFee;
}

/** The RPC calls that the service makes. Every answer is validated before use. */
export class ChainClient {
  readonly #rpc: RpcCalls;
  readonly #sizes: LogQuerySizes;
  /** By the number of the node. */
  readonly #learnt: Map<number, Learnt>;

  constructor(rpc: RpcCalls, sizes: LogQuerySizes = LOG_QUERY_SIZES, learnt = new Map<number, Learnt>()) {
    this.#rpc = rpc;
    this.#sizes = sizes;
    this.#learnt = learnt;
  }

  /** The same client for others: while a provider limits the rate of calls, theirs come first or last. */
  as(priority: Priority): ChainClient {
    return new ChainClient(new BoundedCalls(this.#rpc, { priority }), this.#sizes, this.#learnt);
  }

  /** Which node answers. */
  get nodes(): NodeChoice {
    return this.#rpc.nodes;
  }

  /** What the node that is read now accepts. */
  get logLimits(): LogLimits {
    return this.#ofNode.logLimits;
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

  get #ofNode(): Learnt {
    const { number } = this.nodes;
    const known = this.#learnt.get(number);
    if (known !== undefined) return known;
    const learnt = { logLimits: createLogLimits(this.#sizes), priorityFee: new PriorityFee(this.#rpc) };
    this.#learnt.set(number, learnt);
    return learnt;
  }

  async chainId(): Promise<bigint> {
    return parse(hexQuantity, await this.#rpc.call("eth_chainId", []));
  }

  async headNumber(): Promise<number> {
    return parse(small, await this.#rpc.call("eth_blockNumber", []));
  }

  /** The number of the newest block, and the blocks at some heights, in one round trip. See `blocks`. */
  async headAnd(heights: number[]): Promise<{ head: number; blocks: (Block | null)[] }> {
    const [head, ...answers] = await this.#rpc.all([{ method: "eth_blockNumber", params: [] }, ...blocksAt(heights)]);
    return { head: parse(small, head), blocks: answers.map(readBlock) };
  }

  /** Null for a block that the node does not have (yet, or any more). */
  async blocks(numbers: number[]): Promise<(Block | null)[]> {
    return (await this.#rpc.all(blocksAt(numbers))).map(readBlock);
  }

  /** Blocks with all fields that the node shows. @throws ChainUnavailable when it does not have one of them. */
  async rawBlocks(numbers: number[]): Promise<object[]> {
    const answers = await this.#rpc.all(blocksAt(numbers));
    return present(answers, "the node does not have a block below its own head: it is not in sync");
  }

  /** The receipts of a block with all fields that the node shows. @throws AnswerTooLarge, RpcError, ChainUnavailable */
  async blockReceipts(blockHash: string): Promise<object[]> {
    const answer = await this.#rpc.call("eth_getBlockReceipts", [blockHash], { answerBytes: MAX_RECEIPTS });
    if (!Array.isArray(answer)) throw new ChainUnavailable(NO_RECEIPTS);
    return present(answer, NO_RECEIPTS);
  }

  /** As `blockReceipts`, with a call for each transaction. */
  async rawReceipts(hashes: string[]): Promise<object[]> {
    const calls = hashes.map(receiptOf);
    return present(await this.#rpc.all(calls, { answerBytes: MAX_RECEIPTS }), NO_RECEIPTS);
  }

  async latestBlock(): Promise<Block> {
    return parse(block, await this.#rpc.call("eth_getBlockByNumber", ["latest", false]));
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
    const logs: RawLog[][] = [];
    for (const answer of await askForLogs(this.#rpc, queries, bounds))
      logs.push((await parseLogs(answer)) ?? invalid());
    return logs.flat();
  }

  async receipts(hashes: string[]): Promise<(Receipt | null)[]> {
    const answers = await this.#rpc.all(hashes.map(receiptOf));
    return answers.map((answer) => parse(receipt.nullish(), answer) ?? null);
  }

  /** Signed transactions by hash. Null: the node does not have it. Undefined: it has a type that the service never sends. */
  async transactions(hashes: string[]): Promise<(Transaction | null | undefined)[]> {
    const answers = await this.#rpc.all(hashes.map((h) => ({ method: "eth_getTransactionByHash", params: [h] })));
    return answers.map((answer, index) => readTransaction(answer, hashes[index]));
  }

  /** @param block its number or its hash; absent: the newest. */
  async code(addresses: string[], abort?: AbortSignal, block?: number | string): Promise<string[]> {
    const calls = addresses.map((address) => ({ method: "eth_getCode", params: [address, stateAt(block)] }));
    const answers = await this.#rpc.all(calls, { abort });
    return answers.map((answer) => parse(hex, answer));
  }

  async balance(account: string): Promise<bigint> {
    return parse(hexQuantity, await this.#rpc.call("eth_getBalance", [account, "latest"]));
  }

  async balances(accounts: string[]): Promise<bigint[]> {
    const calls = accounts.map((account) => ({ method: "eth_getBalance", params: [account, "latest"] }));
    const answers = await this.#rpc.all(calls);
    return answers.map((answer) => parse(hexQuantity, answer));
  }

  /** Number of mined transactions of each account; with `pending` also those in the node's transaction pool. */
  async nonces(accounts: string[], blockTag: number | "latest" | "pending" = "latest"): Promise<number[]> {
    const at = typeof blockTag === "string" ? blockTag : toQuantity(blockTag);
    const calls = accounts.map((account) => ({ method: "eth_getTransactionCount", params: [account, at] }));
    const answers = await this.#rpc.all(calls);
    return answers.map((answer) => parse(small, answer));
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
    return this.nodes.session(() => this.nodes.price(() => this.#ofNode.priorityFee.read()));
  }

  /**
   * @returns what each call returns; null when it reverts or the function does not exist; undefined when the node could not
   *   run it, so that nothing is known.
   */
  tryCalls(calls: ContractCall[], blockNumber?: number, bounds: RpcBounds = {}): Promise<CallAnswer[]> {
    return this.nodes.session(() => this.#tryCalls(calls, blockNumber, bounds));
  }

  async #tryCalls(calls: ContractCall[], blockNumber: number | undefined, bounds: RpcBounds): Promise<CallAnswer[]> {
    const at = stateAt(blockNumber);
    const run = (some: ContractCall[]) =>
      this.#rpc.batch(
        some.map((call) => ({ method: "eth_call", params: [call, at] })),
        bounds,
      );
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
    return this.#rpc.batch(limited, bounds);
  }

  /**
   * Calls an account as if it had other code, under the rules of the next block where the node can.
   * @returns what the code returns; null when it reverts, or when the node does not support such calls.
   */
  async callWithCode(to: string, code: string, gas: number): Promise<string | null> {
    const results = await this.#rpc.batch(
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
    const [result] = await this.#rpc.batch([{ method: "eth_estimateGas", params: [{ data, gas: toQuantity(gas) }] }]);
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
    const results = await this.#rpc.batch(requests, { answerBytes: MAX_SIMULATION_ANSWER, abort });
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
    const results = await this.#rpc.batch(requests);
    return calls.map((_call, index) => {
      const found = tags.map((_tag, at) => results[at * calls.length + index]).find((result) => result?.ok === true);
      return found?.ok === true ? parse(hexQuantity, found.value) : null;
    });
  }

  /** Sends signed bytes to the nodes. @throws RpcError, ChainUnavailable: neither proves that no node took them. */
  broadcast(raw: string): Promise<void> {
    return this.#rpc.broadcast(raw);
  }
}

/** Longest answer to simulations, in bytes. Foreign code decides how long its revert data is. */
export const MAX_SIMULATION_ANSWER = 8 * 1024 * 1024;

/** Longest answer with the receipts of a block, in bytes. */
export const MAX_RECEIPTS = 64 * 1024 * 1024;
const NO_RECEIPTS = "the node does not have the receipts of a block";

/** The identity precompile returns its input on every node that has the state of the block. */
export const CONTROL_CALL: ContractCall = { to: "0x0000000000000000000000000000000000000004", data: "0x6d6f6e657461" };

function blocksAt(heights: number[]): RpcCall[] {
  return heights.map((height) => ({ method: "eth_getBlockByNumber", params: [toQuantity(height), false] }));
}

function receiptOf(hash: string): RpcCall {
  return { method: "eth_getTransactionReceipt", params: [hash] };
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

function readBlock(answer: unknown): Block | null {
  const read = parse(block.nullable(), answer);
  if (read !== null) shown.set(read, answer as object);
  return read;
}

function present(answers: readonly unknown[], missing: string): object[] {
  return answers.map((answer) => {
    if (typeof answer !== "object" || answer === null) throw new ChainUnavailable(missing);
    return answer;
  });
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

/**
 * What transactions pay above the base fee. Asks for the node's suggestion. Some chains do not have that method: then the
 * median of recent blocks is used, and if blocks show none, the gas price without the base fee.
 */
class PriorityFee {
  readonly #rpc: RpcCalls;
  #hasSuggestion = true;

  constructor(rpc: RpcCalls) {
    this.#rpc = rpc;
  }

  /** In wei. @throws RpcError, ChainUnavailable */
  async read(): Promise<bigint> {
    return (await this.#suggested()) ?? (await this.#recent()) ?? this.#fromGasPrice();
  }

  async #suggested(): Promise<bigint | null> {
    if (!this.#hasSuggestion) return null;
    const answer = await this.#ask("eth_maxPriorityFeePerGas", [], (code) => {
      this.#hasSuggestion = code !== METHOD_NOT_FOUND;
    });
    return answer === null ? null : parse(hexQuantity, answer, NO_FEES);
  }

  async #recent(): Promise<bigint | null> {
    const answer = await this.#ask("eth_feeHistory", [HISTORY_BLOCKS, "latest", [50]]);
    if (answer === null) return null;
    const rewards = (parse(feeHistory, answer, NO_FEES).reward ?? []).flat().filter((reward) => reward > 0n);
    rewards.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return rewards[Math.floor(rewards.length / 2)] ?? null;
  }

  async #fromGasPrice(): Promise<bigint> {
    const [price, newest] = await this.#rpc.all([
      { method: "eth_gasPrice", params: [] },
      { method: "eth_getBlockByNumber", params: ["latest", false] },
    ]);
    const tip = parse(hexQuantity, price, NO_FEES) - (parse(pricedBlock, newest, NO_FEES).baseFeePerGas ?? 0n);
    return tip > 0n ? tip : 0n;
  }

  /** Null when the node answers with an error: then the next source is asked. */
  async #ask(method: string, params: unknown[], refused?: (code: number) => void): Promise<unknown> {
    try {
      return await this.#rpc.call(method, params);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      refused?.(error.code);
      return null;
    }
  }
}
