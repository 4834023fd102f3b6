import { randomFillSync } from "node:crypto";

/*
 * The ids of rows begin with the time, so the ids of rows that are written together are on a few pages of the database's index.
 * With random ids, each would be on a page of its own, which the database would write, log and copy.
 */

const BYTES = 32;
/** Bytes for the time: milliseconds since 1970. */
const TIME_BYTES = 6;

/** Asking the system for random bytes costs more than making an id of them, so many are asked for at once. */
const pool = Buffer.alloc(128 * BYTES);

let used = pool.length;

/** An id of 64 hex digits that begins with the time. Its other 208 bits are random: nobody can guess it. */
export function orderedId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  pool.writeUIntBE(Date.now(), used, TIME_BYTES);
  used += BYTES;
  return pool.toString("hex", used - BYTES, used);
}
