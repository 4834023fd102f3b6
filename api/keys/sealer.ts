import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";

import { decodeProtectedHeader } from "jose/decode/protected_header";
import { compactDecrypt } from "jose/jwe/compact/decrypt";
import { CompactEncrypt } from "jose/jwe/compact/encrypt";

/** Encryption at rest and keyed fingerprints. The keys can be rotated. */
export interface Sealer {
  /**
   * Encrypts with the newest key, for one place. So somebody who can write to the database but has no key cannot move the value
   * to another row, where the service would decrypt it for somebody else.
   * @param place the row that will have the value: see `sealedPlace`. @returns a JWE.
   */
  seal(plain: string, place: string): Promise<string>;
  /**
   * Decrypts a value that was read at `place`.
   * @param acceptsUnbound whether values of earlier versions, which name no place, are still accepted.
   * @throws SealError when the key is unknown, the text was changed, or it was written for another place.
   */
  open(sealed: string, place: string, acceptsUnbound: () => Promise<boolean>): Promise<string>;
  /** Whether it was encrypted with the newest key and names a place. @throws SealError when it is not a JWE. */
  isCurrent(sealed: string): boolean;
  /** Id of the newest key. */
  readonly newestKey: string;
  /** @returns `<key id>:<HMAC-SHA256, hex>`, made with the newest key. */
  fingerprint(data: string): string;
  /** Whether the fingerprint is that of `data`, made with any of the keys. */
  matches(data: string, fingerprint: string): boolean;
}

export interface SecretKey {
  /** Written into each JWE, to find the key again. */
  id: string;
  /** 32 random bytes. */
  bytes: Uint8Array;
}

/** The row that has an encrypted value: the webhook, or the request that has unlockable content. */
export function sealedPlace(kind: "webhook" | "unlockable", id: string): string {
  return `${kind} ${id}`;
}

export class SealError extends Error {
  override readonly name = "SealError";
}

/**
 * The field of a JWE's header that names the place. The header is the additional authenticated data of the encryption
 * (RFC 7516, 5.1), so nobody can change it without the key.
 */
const PLACE = "place";

interface DerivedKey {
  id: string;
  sealing: KeyObject;
  hashing: KeyObject;
}

/** @param keys newest first. Only the newest encrypts and makes fingerprints. */
export function createSealer(keys: readonly SecretKey[]): Sealer {
  const derived = keys.map(derive);
  const newest = derived[0];
  if (newest === undefined) throw new SealError("SECRET_KEYS holds no key");
  const find = (id: unknown): DerivedKey | undefined => derived.find((key) => key.id === id);

  return {
    seal: (plain, place) =>
      new CompactEncrypt(new TextEncoder().encode(plain))
        .setProtectedHeader({ alg: "A256GCMKW", enc: "A256GCM", kid: newest.id, [PLACE]: place })
        .encrypt(newest.sealing),
    open: async (sealed, place, acceptsUnbound) => {
      const { kid, [PLACE]: writtenFor } = headerOf(sealed);
      const key = find(kid);
      if (key === undefined)
        throw new SealError(`encrypted with the key ${String(kid)}, which is not in SECRET_KEYS: add that key`);
      if (writtenFor === undefined && !(await acceptsUnbound()))
        throw new SealError(
          "the value names no row, and since `keys rotate` such values of earlier versions are refused",
        );
      if (writtenFor !== undefined && writtenFor !== place)
        throw new SealError("the value was encrypted for another row: somebody has moved it within the database");
      try {
        const { plaintext } = await compactDecrypt(sealed, key.sealing, {
          keyManagementAlgorithms: ["A256GCMKW"],
          contentEncryptionAlgorithms: ["A256GCM"],
        });
        return new TextDecoder().decode(plaintext);
      } catch (error) {
        throw new SealError("the encrypted text was changed, or its key has other bytes under the same id", {
          cause: error,
        });
      }
    },
    isCurrent: (sealed) => {
      const { kid, [PLACE]: place } = headerOf(sealed);
      return kid === newest.id && place !== undefined;
    },
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

function headerOf(sealed: string): { kid?: unknown; [PLACE]?: unknown } {
  try {
    return decodeProtectedHeader(sealed);
  } catch (error) {
    throw new SealError("the text is not encrypted (not a JWE)", { cause: error });
  }
}

/** Derives one key for encryption and another for fingerprints, so that each key has one use. */
function derive(key: SecretKey): DerivedKey {
  const subkey = (use: string) =>
    createSecretKey(Buffer.from(hkdfSync("sha256", key.bytes, new Uint8Array(0), `moneta ${use}`, 32)));
  return { id: key.id, sealing: subkey("sealing"), hashing: subkey("fingerprints") };
}

function hmac(key: DerivedKey, data: string): Buffer {
  return createHmac("sha256", key.hashing).update(data, "utf8").digest();
}
