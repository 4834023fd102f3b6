import type { ChainClient } from "../chain/client.ts";
import { CannotSend } from "./cannot-send.ts";
import type { Fees } from "./sign.ts";

/** Replacing a pending transaction takes at least a tenth more on both fees; an eighth is safe on every node. */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;
const WEI_PER_GWEI = 1_000_000_000n;

/** Gas costs more than MAX_FEE_GWEI allows, according to the node. */
export class FeesTooHigh extends CannotSend {
  constructor(message: string) {
    super("fees_too_high", message);
  }
}

/**
 * Fees that stay valid while the base fee doubles (EIP-1559), as far as the ceiling lets them. In wei.
 * @param ceiling most to be paid for a unit of gas, in wei.
 * @throws FeesTooHigh when not even the next block can be paid.
 */
export async function currentFees(client: ChainClient, ceiling: bigint): Promise<Fees> {
  const [block, maxPriorityFeePerGas] = await Promise.all([client.latestBlock(), client.priorityFee()]);
  const baseFee = block.baseFeePerGas ?? 0n;
  const least = baseFee + maxPriorityFeePerGas;
  if (least > ceiling) {
    throw new FeesTooHigh(
      `a unit of gas costs ${inGwei(least)} gwei, and MAX_FEE_GWEI allows ${inGwei(ceiling)}: the lane waits`,
    );
  }
  return { maxFeePerGas: min(2n * baseFee + maxPriorityFeePerGas, ceiling), maxPriorityFeePerGas };
}

/** Fees with which a node takes a replacement, and that fit the chain now; null when the ceiling is in the way. */
export function replacementFees(previous: Fees, current: Fees, ceiling: bigint): Fees | null {
  const bump = (fee: bigint) => (fee * BUMP_NUMERATOR) / BUMP_DENOMINATOR + 1n;
  const fees = {
    maxFeePerGas: max(bump(previous.maxFeePerGas), current.maxFeePerGas),
    maxPriorityFeePerGas: max(bump(previous.maxPriorityFeePerGas), current.maxPriorityFeePerGas),
  };
  return fees.maxFeePerGas > ceiling ? null : fees;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Rounded up, for words. */
function inGwei(wei: bigint): string {
  return ((wei + WEI_PER_GWEI - 1n) / WEI_PER_GWEI).toString();
}
