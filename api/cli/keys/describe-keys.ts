import { OperatorError } from "../../operator/operator-error.ts";
import { XPUB_IS_PRIVATE } from "../../config/extended-public-key.ts";
import type { Settings } from "../../config/settings.ts";
import { createKeyring } from "../../keys/keyring.ts";
import { weaknessOf } from "../../keys/seed-file.ts";

/** The public keys of a seed. The lanes' addresses are public; the extended public key must stay private. */
export interface PublicKeys {
  /** Extended public key of the wallets, for the setting XPUB. With the private key of one wallet it gives away all wallets. */
  xpub: string;
  /** The accounts that send transactions. They need funds, and must be operators of the relay. */
  lanes: string[];
}

export function publicKeys(phrase: string, lanes: readonly number[]): PublicKeys {
  const keyring = createKeyring(phrase);
  return {
    xpub: keyring.walletsPublicKey,
    lanes: lanes.map((lane) => keyring.lane(lane).address),
  };
}

/** @throws OperatorError */
export function requirePassphrase(settings: Pick<Settings, "seedPassphrase">): string {
  if (settings.seedPassphrase === null) {
    throw new OperatorError(
      "SEED_PASSPHRASE is not set. Set it in the environment or in .env: it encrypts the seed file.",
    );
  }
  return settings.seedPassphrase;
}

/** For a new seed file. @throws OperatorError */
export function requireStrongPassphrase(settings: Pick<Settings, "seedPassphrase">): string {
  const passphrase = requirePassphrase(settings);
  const weakness = weaknessOf(passphrase);
  if (weakness !== null) throw new OperatorError(`SEED_PASSPHRASE is weak: ${weakness}. No file was written.`);
  return passphrase;
}

export function describeKeys(
  what: "created" | "restored" | "valid",
  keys: PublicKeys & { seed_file: string; phrase?: string },
  lanes: readonly number[],
): string {
  return [
    `${what}: ${keys.seed_file}`,
    `xpub    ${keys.xpub}`,
    `        ${XPUB_IS_PRIVATE}`,
    ...keys.lanes.map((address, index) => `lane ${lanes[index]?.toString() ?? ""}  ${address}`),
    ...(keys.phrase === undefined ? [] : ["", keys.phrase]),
  ].join("\n");
}
