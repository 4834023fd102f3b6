import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { secretKeys, XPUB_IS_PRIVATE } from "../config/parsers.ts";
import type { Settings } from "../config/settings.ts";
import {
  type FoundKeys,
  newSeedPhrase,
  readSeedFile,
  SeedFileError,
  weaknessOf,
  writeSeedFile,
} from "../keys/seed-file.ts";
import { createKeyring, type Keyring } from "../keys/keyring.ts";
import { createSealer, type SecretKey, type Sealer } from "../keys/sealer.ts";
import { writeNewFile } from "../shared/write-new-file.ts";
import { StartupError } from "./startup-error.ts";

/** The keys that a process's roles need. Those that it does not need are never loaded, and `null` here. */
export interface Keys {
  /** Signs: for `relayer`, and for `api` without XPUB. */
  keyring: Keyring | null;
  /** Extended public key of the wallets' root: for `api`. With the private key of one wallet it gives away all wallets. */
  walletsPublicKey: string | null;
  /** Encrypts and decrypts at rest: for `api` and `webhooks`. */
  sealer: Sealer | null;
  /** Why the passphrase of the seed is weak; null: it is good, or not needed. */
  passphraseWeakness: string | null;
}

type KeySettings = Pick<Settings, "seedFile" | "seedPassphrase" | "xpub" | "secretKeys" | "dataDir">;

/** Which keys the roles need. */
interface Needs {
  seed: boolean;
  secretKeys: boolean;
}

/**
 * Loads the keys that the roles need. On a local chain the first start creates what is missing, in the data folder. On any
 * other chain all of it must exist.
 * @throws StartupError, SeedFileError
 */
export async function loadKeys(settings: KeySettings & Pick<Settings, "roles">, local: boolean): Promise<Keys> {
  const { roles, xpub } = settings;
  const needs = {
    seed: roles.includes("relayer") || (roles.includes("api") && xpub === null),
    secretKeys: roles.includes("api") || roles.includes("webhooks"),
  };
  const { passphrase, keys }: Secrets =
    !needs.seed && !needs.secretKeys
      ? { passphrase: null, keys: [] }
      : local
        ? await localKeys(settings, needs)
        : requireKeys(settings, needs);
  const keyring = needs.seed ? createKeyring(await readSeedFile(settings.seedFile, needed(passphrase))) : null;
  if (keyring !== null && xpub !== null && keyring.walletsPublicKey !== xpub) {
    throw new StartupError(
      `XPUB does not belong to the seed in SEED_FILE. Set XPUB to what \`npm run cli -- keys check\` prints, or unset it here. Nothing was changed. ${XPUB_IS_PRIVATE}`,
    );
  }
  return {
    keyring,
    walletsPublicKey: keyring?.walletsPublicKey ?? xpub,
    sealer: needs.secretKeys ? createSealer(keys) : null,
    passphraseWeakness: passphrase === null ? null : weaknessOf(passphrase),
  };
}

/** A key or another part that was loaded because the roles of this process need it. */
export function needed<T>(loaded: T | null): T {
  if (loaded === null) throw new Error("a part of the service uses something that its role does not name");
  return loaded;
}

interface Secrets {
  /** Decrypts the seed; null: it is not known, or not needed. */
  passphrase: string | null;
  keys: SecretKey[];
}

/** Those of the settings. On a local chain, those that its first start created stand in for what is not set. */
function secretsOf({ seedPassphrase, secretKeys: keys }: KeySettings, stored: LocalSecrets | null): Secrets {
  return {
    passphrase: seedPassphrase ?? stored?.seed_passphrase ?? null,
    keys: keys.length > 0 || stored === null ? keys : secretKeys.parse(stored.secret_keys),
  };
}

function requireKeys(settings: KeySettings, needs: Needs): Secrets {
  const { seedPassphrase: passphrase, secretKeys: keys, seedFile } = settings;
  const problems: string[] = [];
  if (needs.seed && !existsSync(seedFile)) {
    problems.push(
      `SEED_FILE: ${seedFile} does not exist (create one with \`npm run cli -- keys create\`; a process without the role relayer can use XPUB instead. ${XPUB_IS_PRIVATE})`,
    );
  }
  if (needs.seed && passphrase === null) problems.push("SEED_PASSPHRASE is not set (it decrypts SEED_FILE)");
  if (needs.secretKeys && keys.length === 0)
    problems.push("SECRET_KEYS is not set (create a key with `openssl rand -base64 32`)");
  if (problems.length > 0) {
    throw new StartupError(
      `Keys are missing. Only on a local chain are they created automatically:\n- ${problems.join("\n- ")}`,
    );
  }
  return { passphrase, keys };
}

/** Loads the keys that exist and creates none: for commands that may run beside the service. */
export async function findKeys(settings: KeySettings, local: boolean): Promise<FoundKeys> {
  const file = localSecretsFile(settings);
  const { passphrase, keys } = secretsOf(settings, local && existsSync(file) ? await readLocalSecrets(file) : null);
  const found: FoundKeys = {
    keyring: null,
    walletsPublicKey: settings.xpub,
    sealer: null,
    seedProblem: null,
    passphraseWeakness: passphrase === null ? null : weaknessOf(passphrase),
    sealerProblem: null,
  };
  if (keys.length > 0) found.sealer = createSealer(keys);
  else found.sealerProblem = "SECRET_KEYS is not set: it decrypts the secrets in the database.";
  try {
    if (passphrase === null) throw new SeedFileError("SEED_PASSPHRASE is not set: it decrypts SEED_FILE.");
    found.keyring = createKeyring(await readSeedFile(settings.seedFile, passphrase));
  } catch (error) {
    if (!(error instanceof SeedFileError)) throw error;
    found.seedProblem = error.message;
  }
  return found;
}

function localSecretsFile(settings: KeySettings): string {
  return join(settings.dataDir, "local-secrets.json");
}

const localSecrets = z.object({ seed_passphrase: z.string(), secret_keys: z.string() });
type LocalSecrets = z.infer<typeof localSecrets>;

async function readLocalSecrets(file: string): Promise<LocalSecrets> {
  return localSecrets.parse(JSON.parse(await readFile(file, "utf8")));
}

/** Creates what is needed and missing. */
async function localKeys(settings: KeySettings, needs: Needs): Promise<Secrets> {
  const missing =
    (needs.seed && settings.seedPassphrase === null) || (needs.secretKeys && settings.secretKeys.length === 0);
  const secrets = secretsOf(settings, missing ? await createLocalSecrets(settings) : null);
  if (needs.seed && !existsSync(settings.seedFile)) {
    await writeSeedFile(settings.seedFile, newSeedPhrase(), needed(secrets.passphrase)).catch((error: unknown) => {
      if (!existsSync(settings.seedFile)) throw error;
      // Another process was faster. Both use its seed.
    });
  }
  return secrets;
}

/** The secrets of a local chain, in a file that the first start creates. */
async function createLocalSecrets(settings: KeySettings): Promise<LocalSecrets> {
  const file = localSecretsFile(settings);
  if (!existsSync(file)) {
    const made = {
      seed_passphrase: randomBytes(24).toString("base64url"),
      secret_keys: randomBytes(32).toString("base64"),
    };
    // If another process was faster, both use its file.
    await writeNewFile(file, `${JSON.stringify(made, null, 2)}\n`);
  }
  return readLocalSecrets(file);
}
