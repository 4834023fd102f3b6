import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { newSeedPhrase, readSeedFile, SeedFileError, weaknessOf, writeSeedFile } from "../../../api/keys/seed-file.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";

describe("the seed file", () => {
  // Key derivation is slow on purpose, so that a passphrase is hard to guess.
  const folder = useFolder();
  let file: string;

  beforeEach(() => {
    file = join(folder.path, "deep", "seed.jwe");
  });

  it("returns the phrase only with the right passphrase, and does not contain it in plain text", async () => {
    const phrase = newSeedPhrase();
    expect(phrase.split(" ")).to.have.length(24);
    await writeSeedFile(file, phrase, "passphräse");
    expect(await readSeedFile(file, "passphräse")).to.equal(phrase);
    for (const word of phrase.split(" ").filter((one) => one.length > 5))
      expect(await readFile(file, "utf8")).to.not.include(word);
    const error = await rejectionOf(readSeedFile(file, "wrong"));
    expect(error).to.be.instanceOf(SeedFileError);
    expect(error.message).to.include("passphrase").and.not.include("wrong");
  });

  it("is readable by its owner only, and leaves no temporary file", async () => {
    await writeSeedFile(file, newSeedPhrase(), "p");
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(await readdir(join(folder.path, "deep"))).to.deep.equal(["seed.jwe"]);
  });

  it("is never overwritten, also under concurrent writes", async () => {
    const phrases = Array.from({ length: 3 }, newSeedPhrase);
    const results = await Promise.allSettled(phrases.map((phrase) => writeSeedFile(file, phrase, "p")));
    const winners = phrases.filter((_, index) => results[index]?.status === "fulfilled");
    expect(winners).to.have.length(1);
    expect(await readSeedFile(file, "p")).to.equal(winners[0]);
    expect(await rejectionOf(writeSeedFile(file, newSeedPhrase(), "p"))).to.be.instanceOf(SeedFileError);
    expect(await readSeedFile(file, "p")).to.equal(winners[0]);
    expect(await readdir(join(folder.path, "deep"))).to.deep.equal(["seed.jwe"]);
  });

  it("is refused with a clear error when it is missing or is another file", async () => {
    expect(await rejectionOf(readSeedFile(file, "p"))).to.be.instanceOf(SeedFileError);
    const other = join(folder.path, "other");
    for (const text of ["", "hello", "a.b.c.d.e", "{}"]) {
      await writeFile(other, text);
      expect(await rejectionOf(readSeedFile(other, "p")), text).to.be.instanceOf(SeedFileError);
    }
  });
});

describe("weaknessOf", () => {
  for (const [passphrase, isWeak] of [
    ["", true],
    ["correct horse", true],
    ["aaaaaaaaaaaaaaaaaaaaaaaa", true],
    ["abcdefgabcdefgabcdefg", true],
    ["abcdefgh abcdefg", false],
    ["correct horse battery staple", false],
    ["8f0d3bb7a19c4e25b6d7c8e9f0a1b2c3", false],
  ] as const) {
    it(`says that "${passphrase}" is ${isWeak ? "weak" : "good enough"}`, () => {
      expect(weaknessOf(passphrase) !== null).to.equal(isWeak);
    });
  }

  it("says how long it is, and how to make a good one", () => {
    expect(weaknessOf("correct horse")).to.match(/13 characters, 8 of them.*16 and 8 are needed.*openssl rand/s);
  });
});
