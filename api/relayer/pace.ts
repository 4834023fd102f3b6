import { isDue } from "../store/db/due.ts";
import type { FlightTransaction } from "./block-room.ts";

/**
 * Milliseconds from one transaction to the next one, if that is not full and one is in flight. The time grows with each
 * transaction in flight. So a lane sends a few transactions for each block, spread over the time until it comes, whatever
 * that time is. Without the pauses, it would send its transactions right after a block, small ones, and what comes later
 * would miss the next block.
 */
const PAUSE = { first: 500, factor: 1.5 } as const;
/** With so many in flight, only full transactions are sent. With the pauses, it takes more than twelve seconds to send so many. */
const MOST_BEFORE_FULL = 8;

/**
 * How long requests that do not fill a transaction wait for others.
 * @param open the lane's transactions in flight, by nonce.
 * @returns milliseconds from now; 0: no longer; null: until a transaction is in a block, or until they fill one.
 */
export function pauseBeforePartial(open: readonly FlightTransaction[], now: number): number | null {
  if (open.length >= MOST_BEFORE_FULL) return null;
  const sentAt = open.at(-1)?.attempts[0]?.createdAt;
  if (sentAt === undefined) return 0;
  const pause = PAUSE.first * PAUSE.factor ** (open.length - 1);
  return isDue(sentAt + pause, now, pause) ? 0 : sentAt + pause - now;
}
