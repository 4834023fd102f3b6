import { randomBytes } from "node:crypto";

/** Bits of the counter inside one epoch. Numbers are dense because the relay keeps 256 of them in one storage slot. */
const COUNTER_BITS = 32n;

/**
 * Draws request numbers: 64 random bits that this lane's process chooses at start, then a counter. So no other process, and
 * no database restored from a backup, draws the same number again.
 */
export function createNumbers(): () => bigint {
  const newEpoch = () => randomBytes(8).readBigUInt64BE() << COUNTER_BITS;
  let epoch = newEpoch();
  let counter = 0n;
  return () => {
    if (counter >> COUNTER_BITS !== 0n) {
      epoch = newEpoch();
      counter = 0n;
    }
    return epoch | counter++;
  };
}
