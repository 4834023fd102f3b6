import { createHash, hash, randomInt } from "node:crypto";

import { getAddress, getBytes, HDNodeVoidWallet, HDNodeWallet, hexlify, SigningKey } from "ethers";

import { addToPublicKey, keccak256 } from "../shared/crypto.ts";

/** Wallets have the paths `m/44'/60'/0'/a/b/c`. */
export const WALLETS_ROOT = "m/44'/60'/0'";

/** The turn of a new wallet for an imported one, whose address is then the name: no name of a user leads to the same path. */
export const OF_ADDRESS = -1;

/** Derives wallet addresses. It cannot sign for them. */
export interface WalletDeriver {
  /**
   * @param userIdentifier null: a path that no other wallet has.
   * @param turn which of the user's paths: a further one is for a user whose first address belongs to a renamed wallet.
   * @returns the address (EIP-55) and the last three steps of its path, `a/b/c`.
   */
  derive(appId: string, userIdentifier: string | null, turn?: number): DerivedWallet;
}

interface DerivedWallet {
  address: string;
  path: string;
}

/** @param extendedPublicKey of `m/44'/60'/0'` (BIP-32). */
export function createWalletDeriver(extendedPublicKey: string): WalletDeriver {
  const parsed = HDNodeWallet.fromExtendedKey(extendedPublicKey);
  if (!(parsed instanceof HDNodeVoidWallet))
    throw new TypeError("the extended key is a private one: wallets are derived from a public key");
  const root = {
    point: getBytes(SigningKey.computePublicKey(parsed.publicKey, false)),
    chainCode: getBytes(parsed.chainCode),
  };
  const nextUnnamed = unnamedWallets(root);
  return {
    derive: (appId, userIdentifier, turn = 0) => {
      if (userIdentifier === null) return nextUnnamed();
      const path = walletPath(appId, userIdentifier, turn);
      return { address: addressOfPoint(deriveNode(root, path).point), path };
    },
  };
}

/**
 * Wallets without a user. Their first two steps are random and the same for all wallets of this deriver; the last one counts.
 * So a wallet needs one derivation instead of three, and two derivers practically never make the same wallet.
 * @param first index of the first wallet of each parent.
 */
export function unnamedWallets(root: PublicNode, first = 0): () => DerivedWallet {
  const newParent = () => {
    const path = [randomInt(HARDENED), randomInt(HARDENED)].join("/");
    return { path, node: deriveNode(root, path), next: first };
  };
  let parent: ReturnType<typeof newParent> | null = null;
  return () => {
    if (parent === null || parent.next >= HARDENED) parent = newParent();
    const index = (parent.next++).toString();
    return { address: addressOfPoint(deriveNode(parent.node, index).point), path: `${parent.path}/${index}` };
  };
}

/**
 * Three unhardened steps from 93 bits of a hash. The same user of the same app always gets the same address, even with an
 * empty database, and a collision of two users is practically impossible.
 * @param turn the first is 0.
 */
export function walletPath(appId: string, user: string, turn = 0): string {
  // The length of the app id makes ("ab", "c") and ("a", "bc") different.
  const first = turn === 0 ? "moneta wallet" : `moneta wallet ${turn.toString()}`;
  const digest = createHash("sha256")
    .update(`${first}\n${appId.length.toString()}\n${appId}\n${user}`, "utf8")
    .digest();
  const step = (offset: number) => (digest.readUInt32BE(offset) & 0x7fff_ffff).toString();
  return [step(0), step(4), step(8)].join("/");
}

/** An extended public key of BIP-32. The point is uncompressed (65 bytes). */
export interface PublicNode {
  point: Uint8Array;
  chainCode: Uint8Array;
}

/** The chance of such an index is below 1 in 2^127. */
export const NO_CHILD = "the derivation path has no key: BIP-32 leaves out this index";
const HARDENED = 0x8000_0000;
const SHA512_BLOCK = 128;
const SHA512_LENGTH = 64;

/**
 * The only derivation, for public and for private keys.
 * @param path unhardened steps, such as `1/2/3`.
 * @returns the child, and the scalars that its private key is larger by than that of the root.
 * @throws RangeError when a step is not a valid index.
 */
export function deriveNode(root: PublicNode, path: string): PublicNode & { scalars: Uint8Array[] } {
  let { point, chainCode } = root;
  const scalars: Uint8Array[] = [];
  for (const index of indexesOf(path)) {
    const data = Buffer.alloc(37);
    // The compressed public key: its prefix tells whether y, and so its last byte, is odd.
    data[0] = ((point[64] ?? 0) & 1) === 0 ? 2 : 3;
    data.set(point.subarray(1, 33), 1);
    data.writeUInt32BE(index, 33);
    const digest = hmacSha512(chainCode, data);
    const scalar = digest.subarray(0, 32);
    const child = addToPublicKey(point, scalar);
    if (child === null) throw new RangeError(NO_CHILD);
    scalars.push(scalar);
    [point, chainCode] = [child, digest.subarray(32)];
  }
  return { point, chainCode, scalars };
}

/** The address (EIP-55) of an uncompressed public key. */
export function addressOfPoint(point: Uint8Array): string {
  return getAddress(hexlify(keccak256(point.subarray(1)).subarray(12)));
}

function indexesOf(path: string): number[] {
  return path.split("/").map((step) => {
    const index = Number(step);
    if (!/^\d+$/.test(step) || index >= HARDENED)
      throw new RangeError(`${JSON.stringify(step)} is not an unhardened step of a derivation path`);
    return index;
  });
}

/** Two hashes in one call each: `createHmac` makes several objects, and a tenth fewer wallets are created a second with it. */
function hmacSha512(key: Uint8Array, data: Uint8Array): Buffer {
  const inner = Buffer.alloc(SHA512_BLOCK + data.length, 0x36);
  const outer = Buffer.alloc(SHA512_BLOCK + SHA512_LENGTH, 0x5c);
  // A chain code is shorter than a block, so HMAC pads it with zeros (RFC 2104).
  for (let index = 0; index < key.length; index++) {
    const byte = key[index] ?? 0;
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  inner.set(data, SHA512_BLOCK);
  outer.set(hash("sha512", inner, "buffer"), SHA512_BLOCK);
  return hash("sha512", outer, "buffer");
}
