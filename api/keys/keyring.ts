import { computeAddress, getBytes, HDNodeWallet, hexlify, Mnemonic, SigningKey } from "ethers";

import { type ImportedKey, KeyError, type StoredWallet } from "../domain/stored-wallet.ts";
import { addToPrivateKey, publicKeyOf } from "../shared/crypto.ts";
import { importKeysOf, openImported } from "./imported-keys.ts";
import { addressOfPoint, deriveNode, NO_CHILD, type PublicNode, WALLETS_ROOT } from "./wallet-deriver.ts";

/** Operator lane k signs with `m/44'/60'/1'/0/k`. */
const LANES_ROOT = "m/44'/60'/1'/0";

/**
 * The account that deploys the contracts and owns the relay, when `init` makes it: `m/44'/60'/2'/0/0`. It has no right to move
 * tokens. The service never derives it.
 */
const DEPLOYER_PATH = "m/44'/60'/2'/0/0";

/** The private key of the account that deploys. */
export function deployerKeyOf(phrase: string): string {
  return HDNodeWallet.fromSeed(Mnemonic.fromPhrase(phrase).computeSeed()).derivePath(DEPLOYER_PATH).privateKey;
}

/** The keys of a process that signs. Use a returned signing key at once and do not keep it. */
export interface Keyring {
  /** Extended public key of the wallets' root. It derives addresses and cannot sign. */
  readonly walletsPublicKey: string;
  /** Public key to which keys of wallets that were made elsewhere are encrypted. */
  readonly importKey: string;
  /** @param path `a/b/c`. */
  wallet(path: string): Signer;
  /** The only way to the key of a stored wallet. @throws KeyError when it is not that of the wallet: no other may sign for it. */
  signer(wallet: StoredWallet): Promise<WalletSigner>;
  lane(index: number): Signer;
}

interface Signer {
  /** EIP-55. */
  address: string;
  key: SigningKey;
}

export interface WalletSigner extends Signer {
  /** null: the seed alone makes the key. */
  imported: ImportedKey | null;
}

/** @param phrase BIP-39 seed phrase. */
export function createKeyring(phrase: string): Keyring {
  const seed = getBytes(Mnemonic.fromPhrase(phrase).computeSeed());
  const master = HDNodeWallet.fromSeed(seed);
  const importKeys = importKeysOf(seed);
  seed.fill(0);
  const wallets = master.derivePath(WALLETS_ROOT);
  const walletsRoot = privateNode(wallets);
  const lanesRoot = privateNode(master.derivePath(LANES_ROOT));
  // A lane signs with the same key as long as the process runs.
  const lanes = new Map<number, Signer>();
  return {
    walletsPublicKey: wallets.neuter().extendedKey,
    importKey: importKeys.publicKey,
    wallet: (path) => signerAt(walletsRoot, path),
    signer: async (wallet) => {
      const { address, key } = wallet;
      const imported = typeof key === "string" ? null : key;
      const signer =
        typeof key === "string"
          ? signerAt(walletsRoot, key)
          : signerOf(await openImported(importKeys, wallet, key.sealed));
      if (signer.address === address) return { ...signer, imported };
      throw new KeyError(
        `the seed does not make wallet ${address}: set SEED_FILE to the seed that made this database's wallets`,
      );
    },
    lane: (index) => {
      const signer = lanes.get(index) ?? signerAt(lanesRoot, index.toString());
      lanes.set(index, signer);
      return signer;
    },
  };
}

/** The bytes are erased. */
function signerOf(bytes: Uint8Array): Signer {
  const key = new SigningKey(hexlify(bytes));
  bytes.fill(0);
  return { address: computeAddress(key.publicKey), key };
}

/** An extended private key of BIP-32. */
interface PrivateNode extends PublicNode {
  key: Uint8Array;
}

function privateNode({ privateKey, chainCode }: HDNodeWallet): PrivateNode {
  const key = getBytes(privateKey);
  return { key, point: publicKeyOf(key), chainCode: getBytes(chainCode) };
}

/** The keys between the root and the child are erased. */
function signerAt(root: PrivateNode, path: string): Signer {
  const { point, scalars } = deriveNode(root, path);
  const key = Uint8Array.from(root.key);
  for (const scalar of scalars) {
    const sum = addToPrivateKey(key, scalar);
    if (sum === null) throw new RangeError(NO_CHILD);
    key.set(sum);
    sum.fill(0);
  }
  const signer = { address: addressOfPoint(point), key: new SigningKey(hexlify(key)) };
  key.fill(0);
  return signer;
}
