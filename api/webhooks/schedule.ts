/** Waits before each try of a delivery, in milliseconds: at once, then ever longer, eight tries in all. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR] as const;

/** Up to a tenth more, so that receivers that failed together are not tried together. */
const JITTER = 0.1;

/**
 * @param tries tries made so far.
 * @param random from 0 (included) to 1.
 * @returns when the next try is due, or null when there is none left.
 */
export function nextTry(tries: number, now: number, random: number): number | null {
  const wait = WAITS[tries];
  return wait === undefined ? null : now + Math.round(wait * (1 + JITTER * random));
}
