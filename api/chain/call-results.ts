import { AbiCoder, dataLength, getAddress, toBeHex } from "ethers";

/** Characters of a revert reason that the relay reports: 256 bytes in hexadecimal, after `0x`. */
export const REPORTED_REASON = 2 + 2 * 256;

/** What `ChainClient.tryCalls` gives for one call. Null: it reverted. Undefined: the node could not run it. */
export type CallAnswer = string | null | undefined;

const ADDRESS_BITS = 160n;

/** A call that returns one 32-byte word; null when the answer is anything else, for example because there is no code. */
export function wordOf(answer: CallAnswer): bigint | null {
  return answer != null && dataLength(answer) === 32 ? BigInt(answer) : null;
}

export function boolOf(answer: CallAnswer): boolean | null {
  const word = wordOf(answer);
  return word === 0n ? false : word === 1n ? true : null;
}

export function addressOf(answer: CallAnswer): string | null {
  const word = wordOf(answer);
  return word === null || word >> ADDRESS_BITS !== 0n ? null : getAddress(toBeHex(word, 20));
}

export function stringOf(answer: CallAnswer): string | null {
  if (answer == null) return null;
  try {
    const [text] = AbiCoder.defaultAbiCoder().decode(["string"], answer) as unknown as [string];
    return text;
  } catch {
    // Another contract may answer in any shape.
    return null;
  }
}
