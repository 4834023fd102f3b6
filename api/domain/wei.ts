/** Wei in a gwei. */
export const GWEI = 1_000_000_000n;

/** A fee in two numbers that fit into counters of 53 bits: whole gwei, and the rest in wei. */
export function splitFee(wei: bigint): { gwei: number; rest: number } {
  return { gwei: Number(wei / GWEI), rest: Number(wei % GWEI) };
}
