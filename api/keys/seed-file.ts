import { readFile } from "node:fs/promises";

import { Mnemonic, randomBytes } from "ethers";
import { JWEDecryptionFailed } from "jose/errors";
import { compactDecrypt } from "jose/jwe/compact/decrypt";
import { CompactEncrypt } from "jose/jwe/compact/encrypt";

import { writeNewFile } from "../shared/write-new-file.ts";
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

/** PBKDF2 rounds for the passphrase: OWASP's recommendation of 2023 for HMAC-SHA512. */
const ROUNDS = 210_000;

export class SeedFileError extends Error {
  override readonly name = "SeedFileError";
}

/** A new BIP-39 phrase of 24 words. */
export function newSeedPhrase(): string {
  return Mnemonic.fromEntropy(randomBytes(32)).phrase;
}

/** Writes the encrypted phrase (JWE) to a new file that only its owner can read. Never overwrites a file. */
export async function writeSeedFile(file: string, phrase: string, passphrase: string): Promise<void> {
  const sealed = await new CompactEncrypt(new TextEncoder().encode(phrase))
    .setProtectedHeader({ alg: "PBES2-HS512+A256KW", enc: "A256GCM" })
    .setKeyManagementParameters({ p2c: ROUNDS })
    .encrypt(new TextEncoder().encode(passphrase));
  if (!(await writeNewFile(file, `${sealed}\n`))) {
    throw new SeedFileError(
      `The file ${file} already exists and was not overwritten. Choose another name or move it away.`,
    );
  }
}

/** @throws SeedFileError when the file is missing, is not a seed file, or the passphrase is wrong. */
export async function readSeedFile(file: string, passphrase: string): Promise<string> {
  let sealed: string;
  try {
    sealed = await readFile(file, "utf8");
  } catch (error) {
    throw new SeedFileError(`The seed file ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "?"}).`);
  }
  try {
    const { plaintext } = await compactDecrypt(sealed.trim(), new TextEncoder().encode(passphrase), {
      keyManagementAlgorithms: ["PBES2-HS512+A256KW"],
      contentEncryptionAlgorithms: ["A256GCM"],
      maxPBES2Count: ROUNDS,
    });
    return Mnemonic.fromPhrase(new TextDecoder().decode(plaintext)).phrase;
  } catch (error) {
    if (error instanceof JWEDecryptionFailed) {
      throw new SeedFileError(
        `The passphrase does not open the seed file ${file}. Set SEED_PASSPHRASE (or SEED_PASSPHRASE_FILE) to the one that it was made with.`,
      );
    }
    throw new SeedFileError(`The file ${file} is not a seed file.`, { cause: error });
  }
}

/** Characters of a passphrase that encrypts a seed, and how many different ones. */
const LEAST = { length: 16, different: 8 };

/**
 * Why a passphrase is too weak to encrypt a seed: whoever has the file can try passphrases without limit.
 * @returns null when it is long and varied enough.
 */
export function weaknessOf(passphrase: string): string | null {
  const characters = Array.from(passphrase);
  const different = new Set(characters).size;
  if (characters.length >= LEAST.length && different >= LEAST.different) return null;
  return `it has ${characters.length.toString()} characters, ${different.toString()} of them different; ${LEAST.length.toString()} and ${LEAST.different.toString()} are needed. \`openssl rand -base64 24\` makes a good one`;
}

/** What to say of a seed file that a weak passphrase opens. */
export function weakPassphrase(weakness: string): string {
  return `SEED_PASSPHRASE is weak: ${weakness}. \`npm run cli -- keys restore\` with another SEED_FILE encrypts the seed with a new one.`;
}
