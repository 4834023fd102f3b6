import { hkdfSync, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { SigningKey } from "ethers";
import { CompactEncrypt } from "jose";

import { createKeyring } from "../../api/keys/keyring.ts";
import type { SecretKey } from "../../api/keys/sealer.ts";
import { newSeedPhrase } from "../../api/keys/seed-file.ts";

/*
 * The keys of this process's test services, as a first start on a local chain creates them, except that the passphrase goes through
 * fewer rounds of PBKDF2. So a start spends no time on them, and the shared node knows the lane's address before.
 */

/** The least that the standard allows. */
const ROUNDS = 1_000;

interface TestKeys {
  seedFile: string;
  localSecrets: string;
  /** Address of lane 0. */
  lane: string;
  laneKey: SigningKey;
}

let creating: Promise<TestKeys> | null = null;

export function testKeys(): Promise<TestKeys> {
  return (creating ??= createTestKeys());
}

async function createTestKeys(): Promise<TestKeys> {
  const phrase = newSeedPhrase();
  const passphrase = randomBytes(24).toString("base64url");
  const seedFile = await new CompactEncrypt(new TextEncoder().encode(phrase))
    .setProtectedHeader({ alg: "PBES2-HS512+A256KW", enc: "A256GCM" })
    .setKeyManagementParameters({ p2c: ROUNDS })
    .encrypt(new TextEncoder().encode(passphrase));
  const secrets = { seed_passphrase: passphrase, secret_keys: randomBytes(32).toString("base64") };
  const { address: lane, key: laneKey } = createKeyring(phrase).lane(0);
  return { seedFile, localSecrets: JSON.stringify(secrets), lane, laneKey };
}

/** Puts the keys into an empty DATA_DIR. */
export async function putTestKeys(dataDir: string): Promise<void> {
  const { seedFile, localSecrets } = await testKeys();
  const mode = 0o600;
  await writeFile(join(dataDir, "seed.jwe"), `${seedFile}\n`, { mode, flag: "wx" });
  await writeFile(join(dataDir, "local-secrets.json"), `${localSecrets}\n`, { mode, flag: "wx" });
}

/** Encrypts as the versions before 0.3.0 did: the value names no place. */
export function sealWithoutPlace({ id, bytes }: SecretKey, plain: string): Promise<string> {
  const sealing = new Uint8Array(hkdfSync("sha256", bytes, new Uint8Array(0), "moneta sealing", 32));
  return new CompactEncrypt(new TextEncoder().encode(plain))
    .setProtectedHeader({ alg: "A256GCMKW", enc: "A256GCM", kid: id })
    .encrypt(sealing);
}
