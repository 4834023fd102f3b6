/** What a transaction cost, or a part of that. */
export interface Cost {
  gas: number;
  feeWei: bigint;
}

/** The cost of a batch whose nonce another transaction used: its own transaction was never mined. */
export const NO_COST: Cost = { gas: 0, feeWei: 0n };

/**
 * Splits an amount in proportion to weights. The parts add up to the whole: each is the difference of two rounded-down running
 * totals.
 * @param weights positive whole numbers.
 */
export function share(amount: bigint, weights: readonly number[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + BigInt(weight), 0n);
  let [seen, given] = [0n, 0n];
  return weights.map((weight) => {
    seen += BigInt(weight);
    const upTo = (amount * seen) / total;
    const part = upTo - given;
    given = upTo;
    return part;
  });
}

/**
 * Splits the cost of a transaction among the requests that it carried.
 * @param weights the gas that each was expected to use, in the order of the calls.
 */
export function shareCost({ gas, feeWei }: Cost, weights: readonly number[]): Cost[] {
  const fees = share(feeWei, weights);
  return share(BigInt(gas), weights).map((part, index) => ({ gas: Number(part), feeWei: fees[index] ?? 0n }));
}
