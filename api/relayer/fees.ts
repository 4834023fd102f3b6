import type { ChainClient } from "../chain/client.ts";
import type { Fees } from "./sign.ts";

/** Replacing a pending transaction takes at least a tenth more on both fees; an eighth is safe on every node. */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;

/** Fees that stay valid while the base fee doubles (EIP-1559). In wei. */
export async function currentFees(client: ChainClient): Promise<Fees> {
  const [block, maxPriorityFeePerGas] = await Promise.all([client.latestBlock(), client.priorityFee()]);
  return { maxFeePerGas: 2n * (block.baseFeePerGas ?? 0n) + maxPriorityFeePerGas, maxPriorityFeePerGas };
}

/** Fees with which a node takes a replacement, and that fit the chain now. */
export function replacementFees(previous: Fees, current: Fees): Fees {
  const bump = (fee: bigint) => (fee * BUMP_NUMERATOR) / BUMP_DENOMINATOR + 1n;
  const max = (a: bigint, b: bigint) => (a > b ? a : b);
  return {
    maxFeePerGas: max(bump(previous.maxFeePerGas), current.maxFeePerGas),
    maxPriorityFeePerGas: max(bump(previous.maxPriorityFeePerGas), current.maxPriorityFeePerGas),
  };
}
