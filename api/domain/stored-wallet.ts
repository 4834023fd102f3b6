/** A wallet for which the service signs. */
export interface StoredWallet {
  appId: string;
  /** EIP-55. */
  address: string;
  /** Where its key comes from: a path `a/b/c` below the seed, or elsewhere. */
  key: string | ImportedKey;
}

/** The private key of a wallet that was made elsewhere. It may be used there, too. */
export interface ImportedKey {
  /** A JWE, bound to the wallet and its app. The seed opens it. */
  sealed: string;
  /** Whether the wallet may delegate to the service's contract although it has delegated to another one. */
  replacesDelegation: boolean;
}

/** The key of a stored wallet cannot be had here. The message says why, and what to do. */
export class KeyError extends Error {
  override readonly name = "KeyError";
}
