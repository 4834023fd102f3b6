import type { Transaction } from "ethers";
import { z } from "zod";

import { ChainUnavailable, type RpcError } from "./errors.ts";
import { address, hash, hex, quantity, small } from "./json-rpc-values.ts";
import { readTransaction } from "./signed-transaction.ts";
import type { Rpc, RpcCall, RpcResult } from "./rpc.ts";

const block = z.object({
  number: small,
  hash,
  parentHash: hash,
  timestamp: small,
  baseFeePerGas: quantity.optional(),
  gasLimit: quantity,
});
const log = z.object({
  address,
  topics: z.array(hash),
  data: hex,
  blockNumber: small,
  blockHash: hash,
  transactionHash: hash,
  logIndex: small,
});
const receipt = z.object({ blockNumber: small, blockHash: hash, status: small, gasUsed: quantity });

export type Block = z.infer<typeof block>;
export type RawLog = z.infer<typeof log>;
export type Receipt = z.infer<typeof receipt>;

/** The gas that a call needs, or the data with which it reverts; null: the node cannot tell. */
export type CallResult = { gas: bigint } | { reverted: string } | null;

export interface LogFilter {
  address: string[];
  topics: (string | string[] | null)[];
}

/** The reads and the one write that the service makes of a node, every answer checked before it is believed. */
export class ChainClient {
  readonly #rpc: Rpc;

  constructor(rpc: Rpc) {
    this.#rpc = rpc;
  }

  async chainId(): Promise<bigint> {
    return parse(quantity, await this.#rpc.call("eth_chainId", []));
  }

  async headNumber(): Promise<number> {
    return parse(small, await this.#rpc.call("eth_blockNumber", []));
  }

  /** null: the node does not have it (yet, or any more). */
  async blocks(numbers: number[]): Promise<(Block | null)[]> {
    const answers = await this.#rpc.all(
      numbers.map((n) => ({ method: "eth_getBlockByNumber", params: [toHex(n), false] })),
    );
    return answers.map((answer) => parse(block.nullable(), answer));
  }

  async latestBlock(): Promise<Block> {
    return parse(block, await this.#rpc.call("eth_getBlockByNumber", ["latest", false]));
  }

  async logs(filter: LogFilter, fromBlock: number, toBlock: number): Promise<RawLog[]> {
    const params = [{ ...filter, fromBlock: toHex(fromBlock), toBlock: toHex(toBlock) }];
    return parse(z.array(log), await this.#rpc.call("eth_getLogs", params));
  }

  /** Logs of single blocks, asked for by hash: a node that does not have the block says so, where a range gives nothing. */
  async logsOfBlocks(filter: LogFilter, hashes: string[]): Promise<RawLog[]> {
    const calls = hashes.map((blockHash) => ({ method: "eth_getLogs", params: [{ ...filter, blockHash }] }));
    return (await this.#rpc.all(calls)).flatMap((answer) => parse(z.array(log), answer));
  }

  async receipts(hashes: string[]): Promise<(Receipt | null)[]> {
    const answers = await this.#rpc.all(hashes.map((h) => ({ method: "eth_getTransactionReceipt", params: [h] })));
    return answers.map((answer) => parse(receipt.nullish(), answer) ?? null);
  }

  /** Signed transactions by hash. null: the node does not have it; undefined: it is of a type that the service never sends. */
  async transactions(hashes: string[]): Promise<(Transaction | null | undefined)[]> {
    const answers = await this.#rpc.all(hashes.map((h) => ({ method: "eth_getTransactionByHash", params: [h] })));
    return answers.map((answer, index) => readTransaction(answer, hashes[index]));
  }

  async code(addresses: string[]): Promise<string[]> {
    const answers = await this.#rpc.all(addresses.map((a) => ({ method: "eth_getCode", params: [a, "latest"] })));
    return answers.map((answer) => parse(hex, answer));
  }

  async balance(account: string): Promise<bigint> {
    return parse(quantity, await this.#rpc.call("eth_getBalance", [account, "latest"]));
  }

  /** Transactions of the account in blocks; with `pending` also those that wait in the node's pool. */
  async nonces(accounts: string[], blockTag: number | "latest" | "pending" = "latest"): Promise<number[]> {
    const at = typeof blockTag === "string" ? blockTag : toHex(blockTag);
    const answers = await this.#rpc.all(
      accounts.map((account) => ({ method: "eth_getTransactionCount", params: [account, at] })),
    );
    return answers.map((answer) => parse(small, answer));
  }

  async priorityFee(): Promise<bigint> {
    return parse(quantity, await this.#rpc.call("eth_maxPriorityFeePerGas", []));
  }

  /**
   * @returns for each call what it returns, null when it reverts or there is no such function, undefined when the node
   *   could not run it: then nothing is known of it.
   */
  async tryCalls(
    calls: { to: string; data: string; from?: string }[],
    blockNumber?: number,
  ): Promise<(string | null | undefined)[]> {
    const results = await this.#ethCalls(calls, blockNumber);
    const answers = results.map((result) => (result.ok ? parse(hex, result.value) : ranAndReverted(result.error)));
    // Some nodes give one code to a call that ran out of gas and to a block whose state they do not have.
    const unclear = results.flatMap((result, index) => (!result.ok && AMBIGUOUS.has(result.error.code) ? [index] : []));
    const open = unclear.filter((index) => answers[index] === undefined);
    if (open.length > 0) {
      const [control, ...again] = await this.#ethCalls(
        [CONTROL_CALL, ...open.flatMap((index) => calls[index] ?? [])],
        blockNumber,
      );
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

  #ethCalls(calls: { to: string; data: string; from?: string }[], blockNumber?: number): Promise<RpcResult[]> {
    const at = blockNumber === undefined ? "latest" : toHex(blockNumber);
    return this.#rpc.batch(calls.map((call) => ({ method: "eth_call", params: [call, at] })));
  }

  /**
   * What each call would do as a transaction of its own on top of a block.
   * @param mostGas beyond it the node need not try: the call may come from somebody who wants it to work for nothing.
   */
  async simulateCalls(
    calls: { to: string; data: string; from: string }[],
    blockNumber: number,
    mostGas: number,
  ): Promise<CallResult[]> {
    const [at, gas] = [toHex(blockNumber), toHex(mostGas)];
    const requests: RpcCall[] = calls.map((call) => ({ method: "eth_estimateGas", params: [{ ...call, gas }, at] }));
    return (await this.#rpc.batch(requests)).map((result) => {
      if (result.ok) return { gas: parse(quantity, result.value) };
      return revertOf(result.error);
    });
  }

  /** Hands signed bytes to the node. @throws RpcError, ChainUnavailable: neither proves that it was not taken. */
  async broadcast(raw: string): Promise<void> {
    await this.#rpc.call("eth_sendRawTransaction", [raw]);
  }
}

/**
 * Codes with which nodes say that a call was run and reverted: 3 (the execution API), -32015 (Nethermind); others say it
 * by giving revert data. Anything else, a rate limit for one, says nothing of the call.
 */
const REVERT_CODES = new Set([3, -32015]);

function ranAndReverted(error: RpcError): null | undefined {
  return error.data !== null || REVERT_CODES.has(error.code) ? null : undefined;
}

/** Empty revert data is also what some nodes put beside an error that is none of the call's. */
function revertOf(error: RpcError): { reverted: string } | null {
  const data = hex.safeParse(error.data);
  if (data.success && data.data !== "0x") return { reverted: data.data };
  return REVERT_CODES.has(error.code) ? { reverted: "0x" } : null;
}

/** Said of a call that failed while it ran, and also of a call that could not be run at all. */
const AMBIGUOUS = new Set([-32000, -32603]);

/** The identity precompile: every node that has the block's state answers this. */
const CONTROL_CALL = { to: "0x0000000000000000000000000000000000000004", data: "0x6d6f6e657461" };

function toHex(value: number): string {
  return `0x${value.toString(16)}`;
}

function parse<T>(schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new ChainUnavailable("the node's answer has a shape that it cannot have");
  return parsed.data;
}
