import { expect } from "chai";
import { computeAddress, getBytes, HDNodeWallet, hexlify, Mnemonic, randomBytes, SigningKey } from "ethers";

import { importKeysOf, openImported, readImportKey, sealImported } from "../../../api/keys/imported-keys.ts";
import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase } from "../../../api/keys/seed-file.ts";
import { rejectionOf } from "../../support/rejection.ts";

const PHRASE = "test test test test test test test test test test test junk";
const SEED = getBytes(Mnemonic.fromPhrase(PHRASE).computeSeed());

describe("imported keys", () => {
  const key = new Uint8Array(32).fill(7);
  const address = computeAddress(hexlify(key));
  const wallet = { appId: "a".repeat(64), address };
  const keyring = createKeyring(PHRASE);
  const sealedFor = (place = wallet, phrase = PHRASE) =>
    sealImported(readImportKey(createKeyring(phrase).importKey), place, key.slice());
  const stored = async (sealed: Promise<string>, place = wallet) => ({
    ...place,
    key: { sealed: await sealed, replacesDelegation: false },
  });

  it("are encrypted to a public key that the seed always gives, and opened by the seed", async () => {
    // A change of it would make all stored keys useless.
    expect(keyring.importKey).to.equal("pbOSCOqto8U4V44NsAvXQuoaDX504Soa2o1WCRG6TD8");
    const sealed = await sealedFor();
    expect(await openImported(importKeysOf(SEED), wallet, sealed)).to.deep.equal(key);
    const signer = await keyring.signer(await stored(sealedFor()));
    expect([signer.address, signer.key.privateKey]).to.deep.equal([address, hexlify(key)]);
    expect(signer.imported?.replacesDelegation).to.equal(false);
    expect(await sealedFor()).to.not.equal(sealed);
  });

  it("are bound to their wallet and app", async () => {
    for (const place of [
      { ...wallet, appId: "b".repeat(64) },
      { ...wallet, address: keyring.lane(0).address },
    ]) {
      const error = await rejectionOf(keyring.signer(await stored(sealedFor(), place)));
      expect(error.message).to.match(/is that of another wallet or app: the database was changed/);
    }
    const [head, ...rest] = (await sealedFor()).split(".");
    const header = JSON.parse(Buffer.from(head ?? "", "base64url").toString()) as Record<string, unknown>;
    header["wallet"] = `${"b".repeat(64)} ${address}`;
    const forged = [Buffer.from(JSON.stringify(header)).toString("base64url"), ...rest].join(".");
    const error = await rejectionOf(
      keyring.signer(await stored(Promise.resolve(forged), { ...wallet, appId: "b".repeat(64) })),
    );
    expect(error.message).to.match(/cannot be opened with this seed, or was changed/);
  });

  it("are refused when they are the key of another address", async () => {
    const other = { ...wallet, address: keyring.lane(0).address };
    const error = await rejectionOf(keyring.signer(await stored(sealedFor(other), other)));
    expect(error.message).to.match(/the seed does not make wallet/);
  });

  it("cannot be opened with another seed", async () => {
    const error = await rejectionOf(createKeyring(newSeedPhrase()).signer(await stored(sealedFor())));
    expect(error.message).to.match(/cannot be opened with this seed/);
  });

  it("have a key that follows from no key below the seed", () => {
    const { publicKey } = importKeysOf(SEED);
    const master = HDNodeWallet.fromSeed(SEED);
    const known = [master, master.derivePath("m/44'/60'/0'")].flatMap((node) => [
      ...[node.privateKey, node.chainCode, node.extendedKey, node.neuter().extendedKey],
    ]);
    for (const text of known) {
      const bytes = text.startsWith("0x") ? getBytes(text) : Buffer.from(text);
      expect(importKeysOf(bytes).publicKey).to.not.equal(publicKey);
    }
  });

  it("are encrypted only to a key of the right form", () => {
    for (const text of ["", "x", `${keyring.importKey}A`, keyring.importKey.slice(1), hexlify(randomBytes(32))])
      expect(() => readImportKey(text)).to.throw(TypeError);
    expect(new SigningKey(hexlify(key)).privateKey).to.equal(hexlify(key));
  });
});
