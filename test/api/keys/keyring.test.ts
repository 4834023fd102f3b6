import { expect } from "chai";
import { HDNodeWallet, Mnemonic } from "ethers";
import fc from "fast-check";

import { createKeyring } from "../../../api/keys/keyring.ts";
import { createWalletDeriver, walletPath } from "../../../api/keys/wallet-deriver.ts";

/** The phrase of BIP-39's own test vectors. */
const PHRASE = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/** Where user "user" of app "app" is with this phrase. */
const EXPECTED = { address: "0xC0243bF7244f3011C2FdefcD5BE0607b9c30c355", path: "877121528/1087937369/90237950" };

describe("wallets and lanes of a seed", () => {
  const keyring = createKeyring(PHRASE);
  const deriver = createWalletDeriver(keyring.walletsPublicKey);

  it("are where the paths say, for any other program", () => {
    const at = (path: string) => HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(PHRASE), path).address;
    // The first account that every wallet program shows for this phrase.
    expect(keyring.wallet("0/0").address).to.equal("0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
    expect(keyring.lane(0).address).to.equal(at("m/44'/60'/1'/0/0"));
    expect(keyring.lane(3).address).to.equal(at("m/44'/60'/1'/0/3"));
    const { address, path } = deriver.derive("app", "user");
    expect(address).to.equal(at(`m/44'/60'/0'/${path}`));
  });

  it("have keys that sign for their addresses, and a public key that cannot sign", () => {
    expect(keyring.walletsPublicKey).to.match(/^xpub/);
    const { address, path } = deriver.derive("app", "user");
    expect(keyring.wallet(path).address).to.equal(address);
    expect(() => createWalletDeriver(HDNodeWallet.fromPhrase(PHRASE, undefined, "m/44'/60'/0'").extendedKey)).to.throw(
      TypeError,
    );
  });

  it("are the same for the same user for ever", () => {
    // A changed derivation would cut every user off: these figures never change.
    expect(deriver.derive("app", "user")).to.deep.equal(EXPECTED);
    expect(deriver.derive("app", null).address).to.not.equal(deriver.derive("app", null).address);
  });

  it("never share a path between two users, however app and user are cut", () => {
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
