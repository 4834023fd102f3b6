/** Wei in a gwei. */
export const GWEI = 1_000_000_000n;

/** A fee in two numbers that fit into counters of 53 bits: whole gwei, and the rest in wei. */
export function splitFee(wei: bigint): { gwei: number; rest: number } {
  return { gwei: Number(wei / GWEI), rest: Number(wei % GWEI) };
}

/** Prices per unit of gas, in wei. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** A replacement must raise both fees by at least 10 %. Raising them by 12.5 % is safe on every node. */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;

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

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
