import {
  getBytes,
  hexlify,
  keccak256 as ethersKeccak256,
  Signature,
  SigningKey,
  toBeArray,
  toBigInt,
  zeroPadValue,
} from "ethers";

/** Arithmetic of secp256k1. Points are uncompressed public keys of 65 bytes, scalars have 32 bytes. */
interface Curve {
  /** Deterministic ECDSA (RFC 6979) with a low `s`. */
  sign: (digest: Uint8Array, privateKey: Uint8Array) => RawSignature;
  publicKey: (privateKey: Uint8Array) => Uint8Array;
  /** `point + scalar * G`. Null when the result is the point at infinity. @throws when `scalar` is not below the order. */
  addToPublicKey: (point: Uint8Array, scalar: Uint8Array) => Uint8Array | null;
  /** `privateKey + scalar` modulo the order. Null when it is 0. @throws when `scalar` is not below the order. */
  addToPrivateKey: (privateKey: Uint8Array, scalar: Uint8Array) => Uint8Array | null;
}

interface RawSignature {
  r: Uint8Array;
  s: Uint8Array;
  yParity: 0 | 1;
}

interface Crypto {
  curve: Curve;
  /** Keccak-256 of the bytes. */
  keccak256: (bytes: Uint8Array) => Uint8Array;
  /** Why the WebAssembly libraries could not be loaded. The slower JavaScript code of ethers replaces them. */
  problem: Error | null;
}

/** The order of the curve. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** secp256k1 in JavaScript, for machines without WebAssembly. Tests compare the fast curve with it. */
export const ethersCurve: Curve = {
  sign: (digest, privateKey) => {
    const { r, s, yParity } = new SigningKey(hexlify(privateKey)).sign(digest);
    return { r: getBytes(r), s: getBytes(s), yParity };
  },
  publicKey: (privateKey) => getBytes(SigningKey.computePublicKey(privateKey)),
  addToPublicKey: (point, scalar) => {
    if (belowOrder(scalar) === 0n) return point;
    const [one, other] = [hexlify(point), SigningKey.computePublicKey(scalar)];
    const opposite = one.slice(0, 68) === other.slice(0, 68) && one !== other;
    return opposite ? null : getBytes(SigningKey.addPoints(one, other));
  },
  addToPrivateKey: (privateKey, scalar) => {
    const sum = (toBigInt(privateKey) + belowOrder(scalar)) % ORDER;
    return sum === 0n ? null : getBytes(zeroPadValue(toBeArray(sum), 32));
  },
};

function belowOrder(scalar: Uint8Array): bigint {
  const value = toBigInt(scalar);
  if (value >= ORDER) throw new RangeError("the scalar is not below the order of secp256k1");
  return value;
}

/** Loads libsecp256k1 and Keccak as WebAssembly. */
async function loadWasm(): Promise<Omit<Crypto, "problem">> {
  const [secp256k1, { createKeccak }] = await Promise.all([import("tiny-secp256k1"), import("hash-wasm")]);
  const keccak = await createKeccak(256);
  const curve: Curve = {
    sign: (digest, privateKey) => {
      const { signature, recoveryId } = secp256k1.signRecoverable(digest, privateKey);
      // 2 and 3 mean that r was above the order. No digest is known that does it.
      if (recoveryId > 1) throw new Error("secp256k1 made a signature that Ethereum cannot express");
      return { r: signature.subarray(0, 32), s: signature.subarray(32), yParity: recoveryId === 0 ? 0 : 1 };
    },
    publicKey: (privateKey) => {
      const point = secp256k1.pointFromScalar(privateKey, false);
      if (point === null) throw new RangeError("the private key is not valid for secp256k1");
      return point;
    },
    addToPublicKey: (point, scalar) => {
      // Two steps take two thirds of the time of `pointAddScalar`: the multiples of G are in a table.
      if (scalar.every((byte) => byte === 0)) return point;
      const multiple = secp256k1.pointFromScalar(scalar, false);
      return multiple === null ? null : secp256k1.pointAdd(point, multiple, false);
    },
    addToPrivateKey: (privateKey, scalar) => secp256k1.privateAdd(privateKey, scalar),
  };
  return { curve, keccak256: (bytes) => keccak.init().update(bytes).digest("binary") };
}

/** @returns the fast code, or that of ethers with the reason. */
export async function loadCrypto(load = loadWasm): Promise<Crypto> {
  try {
    return { ...(await load()), problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error : new Error(String(error));
    return { curve: ethersCurve, keccak256: ethersKeccak256._, problem };
  }
}

export const { curve, keccak256, problem: cryptoProblem } = await loadCrypto();

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

function signRaw(key: SigningKey, digest: string): RawSignature {
  const privateKey = Buffer.from(key.privateKey.slice(2), "hex");
  try {
    return curve.sign(getBytes(digest), privateKey);
  } finally {
    privateKey.fill(0);
  }
}
