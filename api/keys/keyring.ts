import { HDNodeWallet, Mnemonic, type SigningKey } from "ethers";

import { WALLETS_ROOT } from "./wallet-deriver.ts";

/** Operator lane k signs with `m/44'/60'/1'/0/k`. */
const LANES_ROOT = "m/44'/60'/1'/0";

/** The keys of a process that signs. Use a returned signing key at once and do not keep it. */
export interface Keyring {
  /** Extended public key of the wallets' root. It derives addresses and cannot sign. */
  readonly walletsPublicKey: string;
  /** @param path `a/b/c`, as stored with the wallet. */
  wallet(path: string): { address: string; key: SigningKey };
  lane(index: number): { address: string; key: SigningKey };
}

/** @param phrase BIP-39 seed phrase. */
export function createKeyring(phrase: string): Keyring {
  const master = HDNodeWallet.fromSeed(Mnemonic.fromPhrase(phrase).computeSeed());
  const wallets = master.derivePath(WALLETS_ROOT);
  const lanes = master.derivePath(LANES_ROOT);
  const pick = (root: HDNodeWallet, path: string) => {
    const { address, signingKey } = root.derivePath(path);
    return { address, key: signingKey };
  };
  return {
    walletsPublicKey: wallets.neuter().extendedKey,
    wallet: (path) => pick(wallets, path),
    lane: (index) => pick(lanes, index.toString()),
  };
}
