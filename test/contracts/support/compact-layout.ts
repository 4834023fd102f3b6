import { AbiCoder, type BigNumberish, getAddress, keccak256, toBeHex } from "ethers";

/** Slot numbers of the mappings of CompactHolders. CompactHolders.test.ts compares them with the compiler's layout. */
export const SLOTS = { holders: 19n, owners: 20n, plainOwners: 21n, plainBalances: 22n } as const;

const KEYS = 2n ** 32n - 2n;
const PIECE = 2n ** 64n;

/** The four candidates for a holder's key, in the order in which they are tried. */
export function candidatesOf(collection: string, holder: string): bigint[] {
  const hash = BigInt(keccak256(AbiCoder.defaultAbiCoder().encode(["address", "address"], [collection, holder])));
  return [0n, 64n, 128n, 192n].map((shift) => (((hash >> shift) % PIECE) % KEYS) + 1n);
}

/** The slot of a mapping's element. */
export function slotOf(mapping: keyof typeof SLOTS, key: BigNumberish): string {
  return keccak256(AbiCoder.defaultAbiCoder().encode(["uint256", "uint256"], [key, SLOTS[mapping]]));
}

interface Helpers {
  setStorageAt(address: string, slot: string, value: bigint): Promise<unknown>;
}

/**
 * Gives candidates of a holder to other holders, as an attacker can who finds their addresses.
 * @param count how many, in the order in which they are tried. Default: all.
 */
export async function blockCandidates(
  collection: string,
  holder: string,
  helpers: Helpers,
  count = Infinity,
): Promise<void> {
  for (const [index, key] of candidatesOf(collection, holder).slice(0, count).entries()) {
    const other = getAddress(toBeHex(0xb10c_0000n + BigInt(index), 20));
    await helpers.setStorageAt(collection, slotOf("holders", key), BigInt(other));
  }
}
