import { randomFillSync } from "node:crypto";

const BYTES = 32;

/** Asking the system for random bytes costs more than making an id of them, so many are asked for at once. */
const pool = Buffer.alloc(128 * BYTES);

let used = pool.length;

/** @returns where the next random bytes begin in the pool. */
function takeRandom(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const start = used;
  used += BYTES;
  return start;
}

/** 256 random bits, as 64 hex digits: nobody can guess it. */
export function randomId(): string {
  const start = takeRandom();
  return pool.toString("hex", start, start + BYTES);
}

/*
 * The ids of rows begin with the time. A database keeps ids in order: those of rows that are written together are then on a few
 * pages of its index, and with random ids each would be on a page of its own, which is written, logged and copied for it.
 */

/** Bytes for the time: milliseconds since 1970. */
const TIME_BYTES = 6;

/** An id of 64 hex digits that begins with the time. Its other 208 bits are random. */
export function orderedId(): string {
  const start = takeRandom();
  pool.writeUIntBE(Date.now(), start, TIME_BYTES);
  return pool.toString("hex", start, start + BYTES);
}

const [VERSION_AT, VERSION] = [6, 0x70];
const [VARIANT_AT, VARIANT] = [8, 0x80];
const UUID_BYTES = 16;

/** A UUID that begins with the time: version 7 of RFC 9562. 74 bits are random. */
export function orderedUuid(): string {
  const start = takeRandom();
  pool.writeUIntBE(Date.now(), start, TIME_BYTES);
  pool.writeUInt8((pool.readUInt8(start + VERSION_AT) & 0x0f) | VERSION, start + VERSION_AT);
  pool.writeUInt8((pool.readUInt8(start + VARIANT_AT) & 0x3f) | VARIANT, start + VARIANT_AT);
  const hex = pool.toString("hex", start, start + UUID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
