import { randomBytes } from "node:crypto";

/** Bits that count inside one epoch; dense, because the relay keeps 256 numbers in one storage slot. */
const COUNTER_BITS = 32n;

/**
 * Draws request numbers: 64 random bits chosen by this lane's process at start, then a counter. A process, or a
 * database restored from a backup, can never draw a number that another one has given.
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
