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

/** A UUID that begins with the time: version 7 of RFC 9562. 74 bits are random. Node makes them itself only since 24.16. */
export function orderedUuid(): string {
  const hex = orderedId();
  // The first digit of the fourth group has two random bits. Its other bits are the variant.
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
