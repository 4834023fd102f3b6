import { getBytes, HDNodeWallet, hexlify, Mnemonic, SigningKey } from "ethers";

import { addToPrivateKey, publicKeyOf } from "../shared/crypto.ts";
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
  /** @param path `a/b/c`, as stored with the wallet. */
  wallet(path: string): Signer;
  lane(index: number): Signer;
}

interface Signer {
  /** EIP-55. */
  address: string;
  key: SigningKey;
}

/** @param phrase BIP-39 seed phrase. */
export function createKeyring(phrase: string): Keyring {
  const master = HDNodeWallet.fromSeed(Mnemonic.fromPhrase(phrase).computeSeed());
  const wallets = master.derivePath(WALLETS_ROOT);
  const walletsRoot = privateNode(wallets);
  const lanesRoot = privateNode(master.derivePath(LANES_ROOT));
  // A lane signs with the same key as long as the process runs.
  const lanes = new Map<number, Signer>();
  return {
    walletsPublicKey: wallets.neuter().extendedKey,
    wallet: (path) => signerAt(walletsRoot, path),
    lane: (index) => {
      const signer = lanes.get(index) ?? signerAt(lanesRoot, index.toString());
      lanes.set(index, signer);
      return signer;
    },
  };
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
