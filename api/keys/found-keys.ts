import type { Keyring } from "./keyring.ts";
import type { Sealer } from "./sealer.ts";

/** The keys that the settings give access to. A key that is not available is `null`, with the reason. */
export interface FoundKeys {
  keyring: Keyring | null;
  /** XPUB (together with the private key of one wallet it gives away all wallets), which may be set where the seed is not; null: it is not set. */
  walletsPublicKey: string | null;
  sealer: Sealer | null;
  /** Why the seed, and so `keyring`, is not available. */
  seedProblem: string | null;
  /** Why the passphrase of the seed is weak; null: it is good, or not known. */
  passphraseWeakness: string | null;
  /** Why `sealer` is not available, so that encrypted data cannot be decrypted. */
  sealerProblem: string | null;
}
