import { randomBytes } from "node:crypto";

import { expect } from "chai";

import { createSealer, SealError, type SecretKey, sealedPlace } from "../../../api/keys/sealer.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { sealWithoutPlace } from "../../support/test-keys.ts";

function key(id: string): SecretKey {
  return { id, bytes: randomBytes(32) };
}

const HERE = sealedPlace("webhook", "app");
function refuse(): Promise<boolean> {
  return Promise.resolve(false);
}

describe("createSealer", () => {
  const [old, young] = [key("old"), key("young")];
  const before = createSealer([old]);
  const rotated = createSealer([young, old]);

  it("decrypts what it encrypted, with a new ciphertext each time", async () => {
    const [first, second] = [await before.seal("sécret", HERE), await before.seal("sécret", HERE)];
    expect(first).to.not.equal(second);
    expect(first).to.not.include("sécret");
    expect([await before.open(first, HERE, refuse), await before.open(second, HERE, refuse)]).to.deep.equal([
      "sécret",
      "sécret",
    ]);
  });

  it("encrypts with the newest key, and decrypts with older keys as long as they are configured", async () => {
    const sealed = await before.seal("x", HERE);
    expect(await rotated.open(sealed, HERE, refuse)).to.equal("x");
    const later = await rotated.seal("y", HERE);
    expect(await rejectionOf(before.open(later, HERE, refuse))).to.be.instanceOf(SealError);
    expect(await rejectionOf(createSealer([young]).open(sealed, HERE, refuse))).to.be.instanceOf(SealError);
  });

  it("refuses changed text, another key with the same id, and text that is not encrypted", async () => {
    const sealed = await before.seal("the secret", HERE);
    const parts = sealed.split(".");
    for (const index of parts.keys()) {
      const part = parts[index] ?? "";
      const changed = [...parts];
      changed[index] = `${part.startsWith("A") ? "B" : "A"}${part.slice(1)}`;
      expect(
        await rejectionOf(before.open(changed.join("."), HERE, refuse)),
        `part ${index.toString()}`,
      ).to.be.instanceOf(SealError);
    }
    expect(
      await rejectionOf(createSealer([{ id: "old", bytes: randomBytes(32) }]).open(sealed, HERE, refuse)),
    ).to.be.instanceOf(SealError);
    for (const text of ["", "x", "a.b.c.d.e", "{}"])
      expect(await rejectionOf(before.open(text, HERE, refuse)), text).to.be.instanceOf(SealError);
  });

  it("refuses a value that was moved to another place, also when its header is changed to name that place", async () => {
    const sealed = await before.seal("x", sealedPlace("webhook", "one"));
    for (const place of [sealedPlace("webhook", "two"), sealedPlace("unlockable", "one")])
      expect(await rejectionOf(before.open(sealed, place, () => Promise.resolve(true)))).to.have.property(
        "message",
        "the value was encrypted for another row: somebody has moved it within the database",
      );
    const [header = "", ...rest] = sealed.split(".");
    const named = JSON.parse(Buffer.from(header, "base64url").toString()) as object;
    const forged = JSON.stringify({ ...named, place: sealedPlace("webhook", "two") });
    const moved = [Buffer.from(forged).toString("base64url"), ...rest].join(".");
    expect(await rejectionOf(before.open(moved, sealedPlace("webhook", "two"), refuse))).to.be.instanceOf(SealError);
    expect(await before.open(sealed, sealedPlace("webhook", "one"), refuse)).to.equal("x");
  });

  it("opens a value that names no place only while those are accepted", async () => {
    const sealed = await sealWithoutPlace(old, "from an earlier version");
    expect(await before.open(sealed, HERE, () => Promise.resolve(true))).to.equal("from an earlier version");
    expect(await rejectionOf(before.open(sealed, HERE, refuse)))
      .to.have.property("message")
      .that.matches(/names no row/);
    expect([before.isCurrent(sealed), before.isCurrent(await before.seal("x", HERE))]).to.deep.equal([false, true]);
    expect(rotated.isCurrent(await before.seal("x", HERE))).to.equal(false);
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
