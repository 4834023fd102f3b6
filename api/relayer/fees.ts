import type { Block, ChainClient } from "../chain/client.ts";
import { GWEI } from "../domain/wei.ts";
import { CannotSend } from "./cannot-send.ts";

/** Prices per unit of gas, in wei. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** A replacement must raise both fees by at least 10 %. Raising them by 12.5 % is safe on every node. */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;

/**
 * Fees that stay valid until the base fee doubles (EIP-1559), but never above the ceiling. In wei.
 * @returns them with the newest block, which they come from.
 * @param ceiling highest price per unit of gas that the operator accepts, in wei.
 * @throws CannotSend when the ceiling does not cover the next block.
 */
export async function currentFees(client: ChainClient, ceiling: bigint): Promise<{ fees: Fees; block: Block }> {
  const [block, maxPriorityFeePerGas] = await Promise.all([client.latestBlock(), client.priorityFee()]);
  let baseFee = block.baseFeePerGas ?? 0n;
  if (baseFee + maxPriorityFeePerGas > ceiling) {
    // One node alone does not stop the sending. A base fee that it invents costs nothing: the block decides what is paid.
    const other = await client.nodes.second(() => client.latestBlock());
    if (other !== null) baseFee = min(baseFee, other.baseFeePerGas ?? 0n);
  }
  const least = baseFee + maxPriorityFeePerGas;
  if (least > ceiling) {
    throw new CannotSend(
      "fees_too_high",
      `gas costs ${inGwei(least)} gwei, and MAX_FEE_GWEI allows ${inGwei(ceiling)}: wait for lower fees or raise MAX_FEE_GWEI`,
    );
  }
  const fees = { maxFeePerGas: min(2n * baseFee + maxPriorityFeePerGas, ceiling), maxPriorityFeePerGas };
  return { fees, block };
}

/** Fees that a node accepts for a replacement and that are enough now. Null: they would exceed the ceiling. */
export function replacementFees(previous: Fees, current: Fees, ceiling: bigint): Fees | null {
  const bump = (fee: bigint) => (fee * BUMP_NUMERATOR) / BUMP_DENOMINATOR + 1n;
  const fees = {
    maxFeePerGas: max(bump(previous.maxFeePerGas), current.maxFeePerGas),
    maxPriorityFeePerGas: max(bump(previous.maxPriorityFeePerGas), current.maxPriorityFeePerGas),
  };
  return fees.maxFeePerGas > ceiling ? null : fees;
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Rounded up, for messages. */
function inGwei(wei: bigint): string {
  return ((wei + GWEI - 1n) / GWEI).toString();
}
