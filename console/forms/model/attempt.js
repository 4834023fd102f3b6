import { randomKey } from "../../../client/rules/random-key.ts";
/** The same body keeps its key, so a repetition after a lost answer gets that answer instead of a second token. */
export function attemptFor(open, body, newKey = randomKey) {
    return open?.body === body ? open : { key: newKey(), body };
}
/** Refusals that the service gives because of what the call holds. Nothing was taken, now or before. */
const REFUSALS = [400, 403, 404, 409, 413, 415, 422];
/** @param status null when no answer came. */
export function certaintyOf(status) {
    if (status === null)
        return "unknown";
    if (status < 300)
        return "taken";
    return REFUSALS.includes(status) ? "refused" : "unknown";
}
