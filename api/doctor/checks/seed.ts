import { createHash } from "node:crypto";

import { readMeta } from "../../store/db/meta.ts";
import { walletSample } from "../../store/doctor/sealed.ts";
import { type Check, ok, problem } from "../check.ts";

const SAMPLE = 5;

/** The seed can be opened, and is the one that made the wallets. */
export const seed: Check = {
  name: "seed",
  asksChain: false,
  run: async ({ database, keys }) => {
    const { keyring } = keys;
    if (keyring === null)
      return [problem(`${keys.seedProblem ?? "There is no seed."} Nothing can be sent without it.`)];
    const known = await readMeta(database.read, "wallets_key");
    const wallets = await walletSample(database.read, SAMPLE);
    const made = createHash("sha256").update(keyring.walletsPublicKey).digest("hex");
    const other =
      (known !== null && known !== made) ||
      wallets.some(({ address, path }) => keyring.wallet(path).address !== address);
    if (other) return [problem("SEED_FILE holds another seed than the one that made this database's wallets.")];
    return [ok("the seed file opens, and its seed makes the wallets of this database")];
  },
};
