import { hexlify, getBytes, keccak256 as ethersKeccak256, Signature, type SigningKey } from "ethers";
import { createKeccak } from "hash-wasm";
import { pointAdd, pointFromScalar, privateAdd, signRecoverable } from "tiny-secp256k1";

/*
 * secp256k1 and Keccak in WebAssembly. Points are uncompressed public keys of 65 bytes, scalars have 32 bytes.
 */

const keccak = await createKeccak(256);

/** Keccak-256 of the bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return keccak.init().update(bytes).digest("binary");
}

/** @throws RangeError when the private key is not valid. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const point = pointFromScalar(privateKey, false);
  if (point === null) throw new RangeError("the private key is not valid for secp256k1");
  return point;
}

/** `point + scalar * G`. Null when the result is the point at infinity. @throws when `scalar` is not below the order. */
export function addToPublicKey(point: Uint8Array, scalar: Uint8Array): Uint8Array | null {
  // Two steps take two thirds of the time of `pointAddScalar`: the multiples of G are in a table.
  if (scalar.every((byte) => byte === 0)) return point;
  const multiple = pointFromScalar(scalar, false);
  return multiple === null ? null : pointAdd(point, multiple, false);
}

/** `privateKey + scalar` modulo the order. Null when it is 0. @throws when `scalar` is not below the order. */
export function addToPrivateKey(privateKey: Uint8Array, scalar: Uint8Array): Uint8Array | null {
  return privateAdd(privateKey, scalar);
}

interface RawSignature {
  r: Uint8Array;
  s: Uint8Array;
  yParity: 0 | 1;
}

/** From now on ethers hashes with the fast code too: addresses, ABI encoding and transactions. */
export function speedUpEthers(): void {
  ethersKeccak256.register(keccak256);
}

/** Signs with a copy of the private key that is erased at once. @param digest 32 bytes in hex. */
export function signDigest(key: SigningKey, digest: string): Signature {
  const { r, s, yParity } = signRaw(key, digest);
  return Signature.from({ r: hexlify(r), s: hexlify(s), yParity });
}

/** The same in the compact form (r, vs) of EIP-2098: 64 bytes in hex, without 0x. */
export function signCompact(key: SigningKey, digest: string): string {
  const { r, s, yParity } = signRaw(key, digest);
  const compact = Buffer.concat([r, s]);
  // `s` is low, so its highest bit is free for the parity.
  if (yParity === 1) compact.writeUInt8(compact.readUInt8(32) | 0x80, 32);
  return compact.toString("hex");
}

/** Deterministic ECDSA (RFC 6979) with a low `s`. */
function signRaw(key: SigningKey, digest: string): RawSignature {
  const privateKey = Buffer.from(key.privateKey.slice(2), "hex");
  try {
    const { signature, recoveryId } = signRecoverable(getBytes(digest), privateKey);
    // 2 and 3 mean that r was above the order. No digest is known that does it.
    if (recoveryId > 1) throw new Error("secp256k1 made a signature that Ethereum cannot express");
    return { r: signature.subarray(0, 32), s: signature.subarray(32), yParity: recoveryId === 0 ? 0 : 1 };
  } finally {
    privateKey.fill(0);
  }
}
