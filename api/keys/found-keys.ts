import type { Keyring } from "./keyring.ts";
import type { Sealer } from "./sealer.ts";

/** Keys as far as the settings lead to them. `null` with the reason in words, where they do not. */
export interface FoundKeys {
  keyring: Keyring | null;
  sealer: Sealer | null;
  /** Why the seed, and with it `keyring`, cannot be had. */
  seedProblem: string | null;
  /** Why what is sealed cannot be opened. */
  sealerProblem: string | null;
}
