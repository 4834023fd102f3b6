import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";

import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from "jose";

/** Encryption at rest and keyed fingerprints, under keys that can be rotated. */
export interface Sealer {
  /** @returns a JWE made with the newest key. */
  seal(plain: string): Promise<string>;
  /** @throws SealError when the key is unknown or the text was changed. */
  open(sealed: string): Promise<string>;
  /** Whether it was sealed with the newest key. @throws SealError when it was never sealed. */
  isNewest(sealed: string): boolean;
  /** Id of the newest key. */
  readonly newestKey: string;
  /** @returns `<key id>:<HMAC-SHA256, hex>` with the newest key. */
  fingerprint(data: string): string;
  /** Whether the fingerprint, made with any of the keys, is that of `data`. */
  matches(data: string, fingerprint: string): boolean;
}

export interface SecretKey {
  /** Names the key inside what it sealed. */
  id: string;
  /** 32 random bytes. */
  bytes: Uint8Array;
}

export class SealError extends Error {
  override readonly name = "SealError";
}

interface DerivedKey {
  id: string;
  sealing: KeyObject;
  hashing: KeyObject;
}

/** @param keys newest first; the others only open and compare. */
export function createSealer(keys: readonly SecretKey[]): Sealer {
  const derived = keys.map(derive);
  const newest = derived[0];
  if (newest === undefined) throw new SealError("no key to seal with");
  const find = (id: unknown): DerivedKey | undefined => derived.find((key) => key.id === id);

  return {
    seal: (plain) =>
      new CompactEncrypt(new TextEncoder().encode(plain))
        .setProtectedHeader({ alg: "A256GCMKW", enc: "A256GCM", kid: newest.id })
        .encrypt(newest.sealing),
    open: async (sealed) => {
      const kid = keyIdOf(sealed);
      const key = find(kid);
      if (key === undefined) throw new SealError(`sealed with a key that SECRET_KEYS does not hold: ${String(kid)}`);
      try {
        const { plaintext } = await compactDecrypt(sealed, key.sealing, {
          keyManagementAlgorithms: ["A256GCMKW"],
          contentEncryptionAlgorithms: ["A256GCM"],
        });
        return new TextDecoder().decode(plaintext);
      } catch (error) {
        throw new SealError("what was sealed has been changed", { cause: error });
      }
    },
    isNewest: (sealed) => keyIdOf(sealed) === newest.id,
    newestKey: newest.id,
    fingerprint: (data) => `${newest.id}:${hmac(newest, data).toString("hex")}`,
    matches: (data, fingerprint) => {
      const [id, hex] = fingerprint.split(":");
      const key = find(id);
      if (key === undefined || hex === undefined) return false;
      const given = Buffer.from(hex, "hex");
      const expected = hmac(key, data);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

function keyIdOf(sealed: string): unknown {
  try {
    return decodeProtectedHeader(sealed).kid;
  } catch (error) {
    throw new SealError("this was never sealed", { cause: error });
  }
}

/** Two uses, two keys: what is fingerprinted never meets the key that encrypts. */
function derive(key: SecretKey): DerivedKey {
  const subkey = (use: string) =>
    createSecretKey(Buffer.from(hkdfSync("sha256", key.bytes, new Uint8Array(0), `moneta ${use}`, 32)));
  return { id: key.id, sealing: subkey("sealing"), hashing: subkey("fingerprints") };
}

function hmac(key: DerivedKey, data: string): Buffer {
  return createHmac("sha256", key.hashing).update(data, "utf8").digest();
}
