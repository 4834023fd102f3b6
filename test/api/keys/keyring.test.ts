import { expect } from "chai";
import { getBytes, HDNodeWallet, Mnemonic, SigningKey } from "ethers";
import fc from "fast-check";

import { createKeyring } from "../../../api/keys/keyring.ts";
import { createWalletDeriver, unnamedWallets, WALLETS_ROOT, walletPath } from "../../../api/keys/wallet-deriver.ts";

/** The phrase of BIP-39's test vectors. */
const PHRASE = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/** Address of the user "user" of the app "app" with this phrase. */
const EXPECTED = { address: "0xC0243bF7244f3011C2FdefcD5BE0607b9c30c355", path: "877121528/1087937369/90237950" };

describe("wallet and lane keys of a seed", () => {
  const keyring = createKeyring(PHRASE);
  const deriver = createWalletDeriver(keyring.walletsPublicKey);

  it("have the paths that other wallet programs use", () => {
    const at = (path: string) => HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(PHRASE), path).address;
    // Every wallet program shows this as the first account of the phrase.
    expect(keyring.wallet("0/0").address).to.equal("0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
    expect(keyring.lane(0).address).to.equal(at("m/44'/60'/1'/0/0"));
    expect(keyring.lane(3).address).to.equal(at("m/44'/60'/1'/0/3"));
    const { address, path } = deriver.derive("app", "user");
    expect(address).to.equal(at(`m/44'/60'/0'/${path}`));
  });

  it("sign for their addresses, and the extended public key cannot sign", () => {
    expect(keyring.walletsPublicKey).to.match(/^xpub/);
    const { address, path } = deriver.derive("app", "user");
    expect(keyring.wallet(path).address).to.equal(address);
    expect(() => createWalletDeriver(HDNodeWallet.fromPhrase(PHRASE, undefined, "m/44'/60'/0'").extendedKey)).to.throw(
      TypeError,
    );
  });

  it("are those of ethers for all seeds and paths, with the public and with the private keys", () => {
    const phrases = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Mnemonic.fromEntropy(bytes).phrase);
    fc.assert(
      fc.property(phrases, fc.string(), (phrase, user) => {
        const ring = createKeyring(phrase);
        const { address, path } = createWalletDeriver(ring.walletsPublicKey).derive("app", user);
        const expected = HDNodeWallet.fromPhrase(phrase, undefined, `${WALLETS_ROOT}/${path}`);
        expect(address).to.equal(expected.address);
        expect(ring.wallet(path).address).to.equal(expected.address);
        expect(ring.wallet(path).key.privateKey).to.equal(expected.privateKey);
      }),
      { numRuns: 30 },
    );
  });

  it("have only unhardened steps in their path", () => {
    for (const path of ["0'/0/0", "2147483648", "1//2", "", "-1", "1e3"])
      expect(() => keyring.wallet(path)).to.throw(RangeError, "is not an unhardened step");
  });

  it("never change for a user", () => {
    // A changed derivation would lose every wallet, so these values must never change.
    expect(deriver.derive("app", "user")).to.deep.equal(EXPECTED);
    expect(deriver.derive("app", null).address).to.not.equal(deriver.derive("app", null).address);
  });

  describe("given a wallet has no user", () => {
    it("are those of ethers, each with a path of its own", () => {
      const parent = HDNodeWallet.fromPhrase(PHRASE, undefined, WALLETS_ROOT);
      const made = Array.from({ length: 20 }, () => deriver.derive("app", null));
      for (const { address, path } of made) {
        expect(address).to.equal(parent.derivePath(path).address);
        expect(keyring.wallet(path).address).to.equal(address);
      }
      expect(new Set(made.map(({ path }) => path)).size).to.equal(20);
    });

    it("share no path with those of another process", () => {
      const parentOf = (path: string) => path.split("/").slice(0, 2).join("/");
      const other = createWalletDeriver(keyring.walletsPublicKey);
      expect(parentOf(other.derive("app", null).path)).to.not.equal(parentOf(deriver.derive("app", null).path));
    });

    it("get a new parent when the last index is used", () => {
      const root = HDNodeWallet.fromExtendedKey(keyring.walletsPublicKey);
      const point = getBytes(SigningKey.computePublicKey(root.publicKey, false));
      const next = unnamedWallets({ point, chainCode: getBytes(root.chainCode) }, 2 ** 31 - 2);
      const paths = [next(), next(), next()].map(({ address, path }) => {
        expect(address).to.equal(keyring.wallet(path).address);
        return path.split("/");
      });
      expect(paths.map((path) => path[2])).to.deep.equal(["2147483646", "2147483647", "2147483646"]);
      expect(paths[1]?.slice(0, 2)).to.deep.equal(paths[0]?.slice(0, 2));
      expect(paths[2]?.slice(0, 2)).to.not.deep.equal(paths[0]?.slice(0, 2));
    });
  });

  it("have different paths for different users, also if app id and user id concatenate to the same text", () => {
    expect(walletPath("ab", "c")).to.not.equal(walletPath("a", "bc"));
    expect(walletPath("a\n1", "b")).to.not.equal(walletPath("a", "1\nb"));
    fc.assert(
      fc.property(fc.tuple(fc.string(), fc.string()), fc.tuple(fc.string(), fc.string()), (one, two) => {
        fc.pre(one[0] !== two[0] || one[1] !== two[1]);
        expect(walletPath(...one)).to.not.equal(walletPath(...two));
        for (const step of walletPath(...one).split("/")) expect(Number(step)).to.be.below(2 ** 31);
      }),
      { numRuns: 300 },
    );
  });
});
