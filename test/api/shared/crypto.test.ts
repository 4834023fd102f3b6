import { expect } from "chai";
import { getBytes, hexlify, keccak256 as ethersKeccak256, SigningKey, toBeHex } from "ethers";
import fc from "fast-check";

import {
  cryptoProblem,
  curve,
  ethersCurve,
  keccak256,
  loadCrypto,
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
  it("uses the WebAssembly libraries", () => {
    expect(cryptoProblem).to.equal(null);
    expect(curve).to.not.equal(ethersCurve);
  });

  describe("given the libraries cannot be loaded", () => {
    it("uses the code of ethers and says why", async () => {
      const crypto = await loadCrypto(() => Promise.reject(new Error("WebAssembly is not available")));
      expect(crypto.curve).to.equal(ethersCurve);
      expect(crypto.problem?.message).to.equal("WebAssembly is not available");
      expect(hexlify(crypto.keccak256(new Uint8Array()))).to.equal(hexlify(keccak256(new Uint8Array())));
    });
  });

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

  describe("sign", () => {
    it("returns the deterministic signature of RFC 6979 for a known vector", () => {
      // Key 1 and SHA-256("Satoshi Nakamoto"), a vector that many Bitcoin libraries share.
      const digest = getBytes("0xa0dc65ffca799873cbea0ac274015b9526505daaaed385155425f7337704883e");
      const { r, s } = curve.sign(digest, getBytes(toBeHex(1n, 32)));
      expect(hexlify(r)).to.equal("0x934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8");
      expect(hexlify(s)).to.equal("0x2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5");
    });

    it("returns the signature of ethers for all keys and digests, with a low s", () => {
      fc.assert(
        fc.property(privateKeys, digests, (privateKey, digest) => {
          const signature = curve.sign(digest, privateKey);
          expect(signature).to.deep.equal(ethersCurve.sign(digest, privateKey));
          expect(BigInt(hexlify(signature.s)) <= ORDER / 2n).to.equal(true);
          const key = new SigningKey(privateKey);
          expect(signDigest(key, hexlify(digest)).serialized).to.equal(key.sign(digest).serialized);
        }),
      );
    });
  });

  describe("keys", () => {
    it("are those of ethers for all private keys", () => {
      fc.assert(
        fc.property(privateKeys, (privateKey) => {
          expect(curve.publicKey(privateKey)).to.deep.equal(ethersCurve.publicKey(privateKey));
        }),
      );
    });

    it("grow by a scalar as in ethers, and a private key's public key grows with it", () => {
      fc.assert(
        fc.property(privateKeys, scalars(0n), (privateKey, scalar) => {
          const point = curve.publicKey(privateKey);
          const sum = curve.addToPrivateKey(privateKey, scalar);
          expect(sum).to.deep.equal(ethersCurve.addToPrivateKey(privateKey, scalar));
          expect(curve.addToPublicKey(point, scalar)).to.deep.equal(ethersCurve.addToPublicKey(point, scalar));
          expect(curve.addToPublicKey(point, scalar)).to.deep.equal(sum === null ? null : curve.publicKey(sum));
        }),
      );
    });

    for (const [name, each] of [
      ["the fast curve", curve],
      ["the curve of ethers", ethersCurve],
    ] as const) {
      it(`have no sum at infinity and no scalar above the order: ${name}`, () => {
        const one = getBytes(toBeHex(1n, 32));
        const minusOne = getBytes(toBeHex(ORDER - 1n, 32));
        expect(each.addToPrivateKey(one, minusOne)).to.equal(null);
        expect(each.addToPublicKey(each.publicKey(one), minusOne)).to.equal(null);
        const order = getBytes(toBeHex(ORDER, 32));
        expect(() => each.addToPrivateKey(one, order)).to.throw();
        expect(() => each.addToPublicKey(each.publicKey(one), order)).to.throw();
      });
    }
  });
});
