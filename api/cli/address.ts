import { InvalidArgumentError } from "commander";
import { getAddress } from "ethers";

/** Parses an argument that is an address. @returns it in EIP-55 form. */
export function addressOf(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError("Must be an address: 0x and 40 hex digits.");
  const address = withChecksum(text);
  if (address !== null) return address;
  throw new InvalidArgumentError("The checksum is wrong. Correct the address, or write it in lower case.");
}

/** @returns null when the checksum is wrong */
export function withChecksum(text: string): string | null {
  try {
    return getAddress(text);
  } catch {
    return null;
  }
}
