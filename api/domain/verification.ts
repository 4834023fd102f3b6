import { backoff } from "./backoff.ts";

/** How far a verifier has the sources of a collection's contract. `failed`: it was asked as often as allowed, and refused. */
export const VERIFIED = ["exact", "match", "implementation", "failed"] as const;
export type Verified = (typeof VERIFIED)[number];

/** Tries of one collection. The waits between them are a minute at first and 29 hours together. */
export const MOST_TRIES = 12;

const FIRST_WAIT = 60_000;
/** Longest wait before the next try, in milliseconds. */
export const LONGEST_VERIFICATION_WAIT = 12 * 3_600_000;

/** Milliseconds to wait after so many failed tries; null: it has failed for good. */
export function waitAfterTries(tries: number): number | null {
  return tries >= MOST_TRIES ? null : backoff({ first: FIRST_WAIT, longest: LONGEST_VERIFICATION_WAIT }, tries - 1);
}
