/** Wait before each of the eight tries of a delivery, in milliseconds. The first is at once. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR] as const;

/** Up to a tenth is added at random, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * @param tries how many were made so far.
 * @param random from 0 (inclusive) to 1 (exclusive).
 * @returns when the next try is due; null after the last one.
 */
export function nextTry(tries: number, now: number, random: number): number | null {
  const wait = WAITS[tries];
  return wait === undefined ? null : now + Math.round(wait * (1 + JITTER * random));
}
