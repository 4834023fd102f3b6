import { expect } from "chai";
import { getBytes, hexlify, keccak256 as ethersKeccak256, SigningKey, toBeHex } from "ethers";
import fc from "fast-check";

import {
  addToPrivateKey,
  addToPublicKey,
  keccak256,
  publicKeyOf,
  signDigest,
  speedUpEthers,
} from "../../../api/shared/crypto.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Scalars of 32 bytes. The smallest and the largest come often. */
function scalars(smallest: bigint) {
  const edges = fc.constantFrom(smallest, smallest + 1n, ORDER - 2n, ORDER - 1n);
  return fc.oneof(fc.bigInt({ min: smallest, max: ORDER - 1n }), edges).map((value) => getBytes(toBeHex(value, 32)));
}

const privateKeys = scalars(1n);
const digests = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("crypto", () => {
  describe("keccak256", () => {
    it("returns the hashes of the known vectors", () => {
      const hash = (text: string) => hexlify(keccak256(Buffer.from(text)));
      expect(hash("")).to.equal("0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
      expect(hash("abc")).to.equal("0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
    });

    it("returns the hash of ethers for all bytes, and ethers can hash with it", () => {
      speedUpEthers();
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
          const expected = hexlify(ethersKeccak256._(bytes));
          expect(hexlify(keccak256(bytes))).to.equal(expected);
          expect(ethersKeccak256(bytes)).to.equal(expected);
        }),
      );
    });

    it("leaves an earlier hash as it is", () => {
      const first = keccak256(Buffer.from("first"));
      const before = hexlify(first);
      keccak256(Buffer.from("second"));
      expect(hexlify(first)).to.equal(before);
    });
  });

  describe("a signature", () => {
    it("is the deterministic one of RFC 6979 for a known vector", () => {
      // Key 1 and SHA-256("Satoshi Nakamoto"), a vector that many Bitcoin libraries share.
      const digest = "0xa0dc65ffca799873cbea0ac274015b9526505daaaed385155425f7337704883e";
      const { r, s } = signDigest(new SigningKey(toBeHex(1n, 32)), digest);
      expect(r).to.equal("0x934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8");
      expect(s).to.equal("0x2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5");
    });

    it("is that of ethers for all keys and digests, with a low s", () => {
      fc.assert(
        fc.property(privateKeys, digests, (privateKey, digest) => {
          const key = new SigningKey(privateKey);
          const signature = signDigest(key, hexlify(digest));
          expect(signature.serialized).to.equal(key.sign(digest).serialized);
          expect(BigInt(signature.s) <= ORDER / 2n).to.equal(true);
        }),
      );
    });
  });

  describe("keys", () => {
    it("have the public keys of ethers, and a private key's public key grows with it", () => {
      fc.assert(
        fc.property(privateKeys, scalars(0n), (privateKey, scalar) => {
          const point = publicKeyOf(privateKey);
          expect(hexlify(point)).to.equal(SigningKey.computePublicKey(privateKey));
          const value = (BigInt(hexlify(privateKey)) + BigInt(hexlify(scalar))) % ORDER;
          const sum = value === 0n ? null : getBytes(toBeHex(value, 32));
          expect(addToPrivateKey(privateKey, scalar)).to.deep.equal(sum);
          expect(addToPublicKey(point, scalar)).to.deep.equal(sum === null ? null : publicKeyOf(sum));
        }),
      );
    });

    it("have no sum at infinity and no scalar above the order", () => {
      const one = getBytes(toBeHex(1n, 32));
      const minusOne = getBytes(toBeHex(ORDER - 1n, 32));
      expect(addToPrivateKey(one, minusOne)).to.equal(null);
      expect(addToPublicKey(publicKeyOf(one), minusOne)).to.equal(null);
      const order = getBytes(toBeHex(ORDER, 32));
      expect(() => addToPrivateKey(one, order)).to.throw();
      expect(() => addToPublicKey(publicKeyOf(one), order)).to.throw();
    });
  });
});
