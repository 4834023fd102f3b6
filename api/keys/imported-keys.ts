import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from "node:crypto";

import { compactDecrypt } from "jose/jwe/compact/decrypt";
import { CompactEncrypt } from "jose/jwe/compact/encrypt";

import { KeyError, type StoredWallet } from "../domain/stored-wallet.ts";

/** The wallet that an imported key is for. */
type ImportedWallet = Pick<StoredWallet, "appId" | "address">;

/** Imported keys are encrypted to one key and decrypted by another, so who encrypts them needs no secret of the service. */
export interface ImportKeys {
  /** 32 bytes of X25519, base64url. */
  publicKey: string;
  privateKey: KeyObject;
}

/** Begins the encoding of an X25519 private key (RFC 8410); its 32 bytes follow. */
const PKCS8 = Buffer.from("302e020100300506032b656e04220420", "hex");
/** The field of a JWE's header that names the wallet. The header is the additional authenticated data (RFC 7516, 5.1). */
const WALLET = "wallet";

/**
 * From the seed itself, and not from a key of BIP-32: so no extended public key leads to it.
 * @param seed the 64 bytes of BIP-39.
 */
export function importKeysOf(seed: Uint8Array): ImportKeys {
  const secret = Buffer.from(hkdfSync("sha256", seed, new Uint8Array(0), "moneta imported wallets", 32));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: "der", type: "pkcs8" });
  secret.fill(0);
  return { publicKey: createPublicKey(privateKey).export({ format: "jwk" }).x ?? "", privateKey };
}

/** SHA-256, hex. The database has it, to notice a wrong key. It cannot stand in for the key. */
export function fingerprintOfImportKey(publicKey: string): string {
  return createHash("sha256").update(publicKey).digest("hex");
}

/** @param publicKey 32 bytes, base64url. @throws TypeError when it is not such a key. */
export function readImportKey(publicKey: string): KeyObject {
  if (!/^[\w-]{43}$/.test(publicKey)) throw new TypeError("the key must have 43 characters of base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "X25519", x: publicKey }, format: "jwk" });
}

/** Encrypts the 32 bytes of a private key, for one wallet of one app: the text is of no use in another row. */
export function sealImported(publicKey: KeyObject, wallet: ImportedWallet, key: Uint8Array): Promise<string> {
  const header = { alg: "ECDH-ES", enc: "A256GCM", [WALLET]: nameOf(wallet) };
  return new CompactEncrypt(key).setProtectedHeader(header).encrypt(publicKey);
}

/** @throws KeyError when the seed is another one, the text was changed, or it was made for another wallet or app. */
export async function openImported({ privateKey }: ImportKeys, wallet: ImportedWallet, sealed: string) {
  const options = { keyManagementAlgorithms: ["ECDH-ES"], contentEncryptionAlgorithms: ["A256GCM"] };
  const opened = await compactDecrypt(sealed, privateKey, options).catch((cause: unknown) => {
    throw new KeyError(`${wallet.address}: its imported key cannot be opened with this seed, or was changed`, {
      cause,
    });
  });
  if (opened.protectedHeader[WALLET] === nameOf(wallet)) return opened.plaintext;
  throw new KeyError(`${wallet.address}: its key is that of another wallet or app: the database was changed`);
}

function nameOf({ appId, address }: ImportedWallet): string {
  return `${appId} ${address}`;
}
