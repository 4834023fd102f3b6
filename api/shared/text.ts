import { randomFillSync } from "node:crypto";

const BYTES = 32;

/** Asking the system for random bytes costs more than making an id of them, so many are asked for at once. */
const pool = Buffer.alloc(128 * BYTES);

let used = pool.length;

/** 256 random bits, as 64 hex digits. */
export function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString("hex", used, used + BYTES);
  used += BYTES;
  return id;
}

/** `1 warning`, `2 warnings`. @param many the plural, when it is not `one` with an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toString()} ${count === 1 ? one : many}`;
}
