import { z } from "zod";

import { ChainUnavailable, RpcError } from "./errors.ts";
import { hexQuantity } from "./values.ts";
import type { RpcCalls } from "./rpc.ts";

/** Blocks whose fees are read when the node suggests no priority fee. */
const HISTORY_BLOCKS = "0x14";
/** JSON-RPC code of a method that the node does not have. */
const METHOD_NOT_FOUND = -32_601;

const feeHistory = z.object({ reward: z.array(z.array(hexQuantity)).nullish() });
const pricedBlock = z.object({ baseFeePerGas: hexQuantity.optional() });

/**
 * What transactions pay above the base fee. Asks for the node's suggestion. Some chains do not have that method: then the
 * median of recent blocks is used, and if blocks show none, the gas price without the base fee.
 */
export class PriorityFee {
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
    return answer === null ? null : parse(hexQuantity, answer);
  }

  async #recent(): Promise<bigint | null> {
    const answer = await this.#ask("eth_feeHistory", [HISTORY_BLOCKS, "latest", [50]]);
    if (answer === null) return null;
    const rewards = (parse(feeHistory, answer).reward ?? []).flat().filter((reward) => reward > 0n);
    rewards.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return rewards[Math.floor(rewards.length / 2)] ?? null;
  }

  async #fromGasPrice(): Promise<bigint> {
    const [price, block] = await this.#rpc.all([
      { method: "eth_gasPrice", params: [] },
      { method: "eth_getBlockByNumber", params: ["latest", false] },
    ]);
    const tip = parse(hexQuantity, price) - (parse(pricedBlock, block).baseFeePerGas ?? 0n);
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

function parse<T>(schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new ChainUnavailable("the node's answer about fees is not valid: check the node");
  return parsed.data;
}
