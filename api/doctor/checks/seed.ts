import { createHash } from "node:crypto";

import { readMeta } from "../../store/db/meta.ts";
import { walletSample } from "../../store/doctor/sealed.ts";
import { XPUB_IS_PRIVATE } from "../../config/extended-public-key.ts";
import { weakPassphrase } from "../../keys/seed-file.ts";
import { type Check, ok, problem, warning } from "../check.ts";

const SAMPLE = 5;

/** The seed file can be decrypted, and its seed made the wallets. On a machine without the seed, XPUB is checked. */
export const seed: Check = {
  name: "seed",
  asksChain: false,
  run: async ({ database, keys }) => {
    const { keyring } = keys;
    const known = await readMeta(database.read, "wallets_key");
    if (keyring === null && keys.walletsPublicKey !== null) {
      return [
        known === null || known === fingerprintOf(keys.walletsPublicKey)
          ? ok("XPUB is the key of this database's wallets (the seed is not on this machine)")
          : problem(
              `XPUB is not the key of this database's wallets. Set it to what \`npm run cli -- keys check\` prints. ${XPUB_IS_PRIVATE}`,
            ),
      ];
    }
    if (keyring === null)
      return [
        problem(`${keys.seedProblem ?? "There is no seed. Set SEED_FILE."} Without the seed nothing can be sent.`),
      ];
    const wallets = await walletSample(database.read, SAMPLE);
    const made = fingerprintOf(keyring.walletsPublicKey);
    const other =
      (known !== null && known !== made) ||
      wallets.some(({ address, path }) => keyring.wallet(path).address !== address);
    if (other)
      return [
        problem(
          "The seed in SEED_FILE did not make this database's wallets. Set SEED_FILE to the seed file of this database.",
        ),
      ];
    const found = ok("the seed file can be decrypted, and its seed makes the wallets of this database");
    return keys.passphraseWeakness === null ? [found] : [found, warning(weakPassphrase(keys.passphraseWeakness))];
  },
};

function fingerprintOf(walletsPublicKey: string): string {
  return createHash("sha256").update(walletsPublicKey).digest("hex");
}
