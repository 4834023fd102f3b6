import { randomKey } from "../../../client/rules/random-key.ts";

/** A call that writes, with the key under which the service does it at most once. */
export interface Attempt {
  key: string;
  body: string;
}

/** The same body keeps its key, so a repetition after a lost answer gets that answer instead of a second token. */
export function attemptFor(open: Attempt | null, body: string, newKey: () => string = randomKey): Attempt {
  return open?.body === body ? open : { key: newKey(), body };
}

/** What is known after a call: it was taken, nothing was taken, or it may have been taken. */
type Certainty = "taken" | "refused" | "unknown";

/** Refusals that the service gives because of what the call holds. Nothing was taken, now or before. */
const REFUSALS = [400, 403, 404, 409, 413, 415, 422];

/** @param status null when no answer came. */
export function certaintyOf(status: number | null): Certainty {
  if (status === null) return "unknown";
  if (status < 300) return "taken";
  return REFUSALS.includes(status) ? "refused" : "unknown";
}
