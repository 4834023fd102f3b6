import { getAddress } from "ethers";

/** Addresses that are remembered. A range of blocks names the same few contracts and wallets again and again. */
const MOST = 20_000;
let remembered = new Map<string, string>();

/** The checksum form (EIP-55) of an address, which costs a hash. @throws Error when it is not an address. */
export function checksumAddress(text: string): string {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const address = getAddress(text);
  if (remembered.size >= MOST) remembered = new Map();
  remembered.set(text, address);
  return address;
}
