import { randomBytes } from "node:crypto";

import { expect } from "chai";

import { createSealer, SealError, type SecretKey } from "../../../api/keys/sealer.ts";

function key(id: string): SecretKey {
  return { id, bytes: randomBytes(32) };
}

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("it opened"),
    (error: unknown) => error,
  );
}

describe("createSealer", () => {
  const [old, young] = [key("old"), key("young")];
  const before = createSealer([old]);
  const rotated = createSealer([young, old]);

  it("decrypts what it encrypted, with a new ciphertext each time", async () => {
    const [first, second] = [await before.seal("sécret"), await before.seal("sécret")];
    expect(first).to.not.equal(second);
    expect(first).to.not.include("sécret");
    expect([await before.open(first), await before.open(second)]).to.deep.equal(["sécret", "sécret"]);
  });

  it("encrypts with the newest key, and decrypts with older keys as long as they are configured", async () => {
    const sealed = await before.seal("x");
    expect(await rotated.open(sealed)).to.equal("x");
    const later = await rotated.seal("y");
    expect(await failure(before.open(later))).to.be.instanceOf(SealError);
    expect(await failure(createSealer([young]).open(sealed))).to.be.instanceOf(SealError);
  });

  it("refuses changed text, another key with the same id, and text that is not encrypted", async () => {
    const sealed = await before.seal("the secret");
    const parts = sealed.split(".");
    for (const index of parts.keys()) {
      const part = parts[index] ?? "";
      const changed = [...parts];
      changed[index] = `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}`;
      expect(await failure(before.open(changed.join("."))), `part ${index.toString()}`).to.be.instanceOf(SealError);
    }
    expect(await failure(createSealer([{ id: "old", bytes: randomBytes(32) }]).open(sealed))).to.be.instanceOf(
      SealError,
    );
    for (const text of ["", "x", "a.b.c.d.e", "{}"])
      expect(await failure(before.open(text)), text).to.be.instanceOf(SealError);
  });

  it("requires a key", () => {
    expect(() => createSealer([])).to.throw(SealError);
  });

  it("matches fingerprints of any configured key, and no others", () => {
    const print = before.fingerprint("body");
    expect(print).to.match(/^old:[0-9a-f]{64}$/);
    expect([rotated.matches("body", print), rotated.matches("Body", print)]).to.deep.equal([true, false]);
    expect(rotated.fingerprint("body")).to.match(/^young:/);
    for (const wrong of [
      "",
      "old",
      "old:",
      "old:00",
      `none:${print.slice(4)}`,
      `${print}00`,
      print.replace("old", "young"),
    ]) {
      expect(rotated.matches("body", wrong), wrong).to.equal(false);
    }
  });
});
