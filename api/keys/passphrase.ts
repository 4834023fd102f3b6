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
