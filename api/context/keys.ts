import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { secretKeys } from "../config/parsers.ts";
import type { Settings } from "../config/settings.ts";
import type { FoundKeys } from "../keys/found-keys.ts";
import { createKeyring, type Keyring } from "../keys/keyring.ts";
import { createSealer, type SecretKey, type Sealer } from "../keys/sealer.ts";
import { newSeedPhrase, readSeedFile, SeedFileError, writeSeedFile } from "../keys/seed-file.ts";
import { writeNewFile } from "../shared/write-new-file.ts";
import { StartupError } from "./chain-identity.ts";

export interface Keys {
  keyring: Keyring;
  sealer: Sealer;
}

type KeySettings = Pick<Settings, "seedFile" | "seedPassphrase" | "secretKeys" | "dataDir">;

/**
 * Loads the seed and the keys for encryption at rest. On a local chain the first start creates what is missing, in the data
 * folder. On any other chain all of it must exist.
 * @throws StartupError, SeedFileError
 */
export async function loadKeys(settings: KeySettings, local: boolean): Promise<Keys> {
  const { seedFile, passphrase, keys } = local ? await localKeys(settings) : requireKeys(settings);
  const phrase = await readSeedFile(seedFile, passphrase);
  return { keyring: createKeyring(phrase), sealer: createSealer(keys) };
}

interface KeySources {
  seedFile: string;
  passphrase: string;
  keys: SecretKey[];
}

function requireKeys(settings: KeySettings): KeySources {
  const { seedPassphrase: passphrase, secretKeys: keys, seedFile } = settings;
  const problems = [
    ...(existsSync(seedFile)
      ? []
      : [`SEED_FILE: ${seedFile} does not exist (create one with \`npm run cli -- keys create\`)`]),
    ...(passphrase === null ? ["SEED_PASSPHRASE is not set (it decrypts SEED_FILE)"] : []),
    ...(keys.length === 0 ? ["SECRET_KEYS is not set (create a key with `openssl rand -base64 32`)"] : []),
  ];
  if (problems.length > 0 || passphrase === null) {
    throw new StartupError(
      `Keys are missing. Only on a local chain are they created automatically:\n- ${problems.join("\n- ")}`,
    );
  }
  return { seedFile, passphrase, keys };
}

/** Loads the keys that exist and creates none: for commands that may run beside the service. */
export async function findKeys(settings: KeySettings, local: boolean): Promise<FoundKeys> {
  const stored = local ? await storedLocally(settings) : null;
  const passphrase = settings.seedPassphrase ?? stored?.seed_passphrase ?? null;
  const keys =
    settings.secretKeys.length > 0 ? settings.secretKeys : stored === null ? [] : secretKeys.parse(stored.secret_keys);
  const found: FoundKeys = { keyring: null, sealer: null, seedProblem: null, sealerProblem: null };
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

async function storedLocally(settings: KeySettings): Promise<z.infer<typeof localSecrets> | null> {
  const file = localSecretsFile(settings);
  return existsSync(file) ? localSecrets.parse(JSON.parse(await readFile(file, "utf8"))) : null;
}

function localSecretsFile(settings: KeySettings): string {
  return join(settings.dataDir, "local-secrets.json");
}

const localSecrets = z.object({ seed_passphrase: z.string(), secret_keys: z.string() });

async function localKeys(settings: KeySettings): Promise<KeySources> {
  const file = localSecretsFile(settings);
  if (!existsSync(file)) {
    const made = {
      seed_passphrase: randomBytes(24).toString("base64url"),
      secret_keys: randomBytes(32).toString("base64"),
    };
    // If another process was faster, both use its file.
    await writeNewFile(file, `${JSON.stringify(made, null, 2)}\n`);
  }
  const stored = localSecrets.parse(JSON.parse(await readFile(file, "utf8")));
  const passphrase = settings.seedPassphrase ?? stored.seed_passphrase;
  if (!existsSync(settings.seedFile)) {
    await writeSeedFile(settings.seedFile, newSeedPhrase(), passphrase).catch((error: unknown) => {
      if (!existsSync(settings.seedFile)) throw error;
      // Another process was faster. Both use its seed.
    });
  }
  const keys = settings.secretKeys.length > 0 ? settings.secretKeys : secretKeys.parse(stored.secret_keys);
  return { seedFile: settings.seedFile, passphrase, keys };
}
