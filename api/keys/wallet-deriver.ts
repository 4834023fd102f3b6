import { createHash, randomUUID } from "node:crypto";

import { HDNodeVoidWallet, HDNodeWallet } from "ethers";

/** Wallets live at `m/44'/60'/0'/a/b/c`. */
export const WALLETS_ROOT = "m/44'/60'/0'";

/** Makes wallets without being able to sign for them. */
export interface WalletDeriver {
  /**
   * @param userIdentifier null: a random one, used for nothing else.
   * @returns the address (EIP-55) and the last three steps of its path, `a/b/c`.
   */
  derive(appId: string, userIdentifier: string | null): { address: string; path: string };
}

/** @param extendedPublicKey of `m/44'/60'/0'` (BIP-32). */
export function createWalletDeriver(extendedPublicKey: string): WalletDeriver {
  const root = HDNodeWallet.fromExtendedKey(extendedPublicKey);
  if (!(root instanceof HDNodeVoidWallet)) throw new TypeError("wallets are derived from a public key only");
  return {
    derive: (appId, userIdentifier) => {
      const path = walletPath(appId, userIdentifier ?? randomUUID());
      return { address: root.derivePath(path).address, path };
    },
  };
}

/**
 * 93 bits of a hash, as three unhardened steps: the same user of the same app has the same address for ever, whatever
 * the database says, and two users never share one.
 */
export function walletPath(appId: string, user: string): string {
  // The length before the app id keeps ("ab", "c") and ("a", "bc") apart.
  const digest = createHash("sha256")
    .update(`moneta wallet\n${appId.length.toString()}\n${appId}\n${user}`, "utf8")
    .digest();
  const step = (offset: number) => (digest.readUInt32BE(offset) & 0x7fff_ffff).toString();
  return [step(0), step(4), step(8)].join("/");
}
