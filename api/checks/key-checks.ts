import { createHash } from "node:crypto";

import { XPUB_IS_PRIVATE } from "../config/parsers.ts";
import { sealedPlace, SealError } from "../keys/sealer.ts";
import { weakPassphrase } from "../keys/seed-file.ts";
import { plural } from "../shared/text.ts";
import { acceptsUnboundValues, importedKeysOf, readMeta } from "../store/db/meta.ts";
import { sealedSample, walletSample } from "../store/doctor/sealed.ts";
import { type Check, ok, problem, some, warning } from "./check.ts";

const WALLET_SAMPLE = 5;

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
      return problem(`${keys.seedProblem ?? "There is no seed. Set SEED_FILE."} Without the seed nothing can be sent.`);
    const wallets = await walletSample(database.read, WALLET_SAMPLE);
    const made = fingerprintOf(keyring.walletsPublicKey);
    const other =
      (known !== null && known !== made) ||
      wallets.some(({ address, path }) => keyring.wallet(path).address !== address);
    if (other)
      return problem(
        "The seed in SEED_FILE did not make this database's wallets, and opens no imported keys. Set SEED_FILE to the seed file of this database.",
      );
    const found = ok("the seed file can be decrypted, and its seed makes the wallets of this database");
    return keys.passphraseWeakness === null ? [found] : [found, warning(weakPassphrase(keys.passphraseWeakness))];
  },
};

function fingerprintOf(walletsPublicKey: string): string {
  return createHash("sha256").update(walletsPublicKey).digest("hex");
}

/** Keys of wallets that were made elsewhere: only a backup rescues them. */
export const imported: Check = {
  name: "imported",
  asksChain: false,
  run: async ({ database: { read } }) => {
    const { count, newest } = await importedKeysOf(read);
    const keys = plural(count, "imported key");
    if (newest <= Number((await readMeta(read, "imported_keys_saved")) ?? 0)) return ok(keys);
    return warning(`${keys}, some newer than the last \`backup\`. Nothing else brings them back: make a backup.`);
  },
};

const SEALED_SAMPLE = 20;

/** SECRET_KEYS decrypt the encrypted values of the database. */
export const sealed: Check = {
  name: "sealed",
  asksChain: false,
  run: async ({ database, keys }) => {
    const { sealer } = keys;
    if (sealer === null) return problem(keys.sealerProblem ?? "There is no encryption key. Set SECRET_KEYS.");
    const sample = await sealedSample(database.read, SEALED_SAMPLE);
    const undecryptable: string[] = [];
    let older = 0;
    const acceptsUnbound = () => acceptsUnboundValues(database.read);
    for (const { where, kind, id, sealed: text } of sample) {
      try {
        await sealer.open(text, sealedPlace(kind, id), acceptsUnbound);
        if (!sealer.isCurrent(text)) older += 1;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        undecryptable.push(`${where} (${error.message})`);
      }
    }
    if (undecryptable.length > 0) {
      return problem(
        `SECRET_KEYS cannot decrypt ${some(undecryptable, 3)}. If a key is missing, add it at the end of SECRET_KEYS.`,
      );
    }
    if (older > 0 || (await acceptsUnbound())) {
      return warning(
        "Some values are encrypted with an older key, or by a version that did not bind them to their row. Run `npm run cli -- keys rotate`, before you remove an older key.",
      );
    }
    return ok(
      `checked ${plural(sample.length, "encrypted value")}: the newest key decrypts ${sample.length === 1 ? "it" : "them"}`,
    );
  },
};
