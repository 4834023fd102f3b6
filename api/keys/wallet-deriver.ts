import { createHash, randomInt } from "node:crypto";

import { getBytes, HDNodeVoidWallet, HDNodeWallet, SigningKey } from "ethers";

import { addressOf, derivePublic, HARDENED, type PublicNode } from "./bip32.ts";

/** Wallets have the paths `m/44'/60'/0'/a/b/c`. */
export const WALLETS_ROOT = "m/44'/60'/0'";

/** Derives wallet addresses. It cannot sign for them. */
export interface WalletDeriver {
  /**
   * @param userIdentifier null: a path that no other wallet has.
   * @returns the address (EIP-55) and the last three steps of its path, `a/b/c`.
   */
  derive(appId: string, userIdentifier: string | null): DerivedWallet;
}

export interface DerivedWallet {
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
    derive: (appId, userIdentifier) => {
      if (userIdentifier === null) return nextUnnamed();
      const path = walletPath(appId, userIdentifier);
      return { address: addressOf(derivePublic(root, path).point), path };
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
    return { path, node: derivePublic(root, path), next: first };
  };
  let parent: ReturnType<typeof newParent> | null = null;
  return () => {
    if (parent === null || parent.next >= HARDENED) parent = newParent();
    const index = (parent.next++).toString();
    return { address: addressOf(derivePublic(parent.node, index).point), path: `${parent.path}/${index}` };
  };
}

/**
 * Three unhardened steps from 93 bits of a hash. The same user of the same app always gets the same address, even with an
 * empty database, and a collision of two users is practically impossible.
 */
export function walletPath(appId: string, user: string): string {
  // The length of the app id makes ("ab", "c") and ("a", "bc") different.
  const digest = createHash("sha256")
    .update(`moneta wallet\n${appId.length.toString()}\n${appId}\n${user}`, "utf8")
    .digest();
  const step = (offset: number) => (digest.readUInt32BE(offset) & 0x7fff_ffff).toString();
  return [step(0), step(4), step(8)].join("/");
}
