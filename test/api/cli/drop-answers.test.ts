import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { JOURNAL } from "../../../client/drop-node/journal.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { type ApiProxy, startApiProxy } from "./support/api-proxy.ts";
import { picture, useDrop } from "./support/use-drop.ts";

const BATCH = "POST /v1/nfts/batch";
const MEDIA = "POST /v1/media";
const REFUSED = { error_code: "validation_failed", message: "Not these items.", errors: null };

/** A line of the journal as version 0.3.0 wrote it. */
function asEarlier(line: string): string {
  const { step, items, bodies, ...rest } = (line === "" ? {} : JSON.parse(line)) as Record<string, unknown>;
  if (step === undefined) return line;
  expect(step).to.equal("send");
  return JSON.stringify({ entry: "batch", key: rest["key"], tokens: items, body: { items: bodies }, at: rest["at"] });
}

describe("command line: answers to a drop", () => {
  const drop = useDrop();
  const { place } = drop;
  let proxy: ApiProxy;
  beforeEach(async () => {
    await drop.writeJsonLayout(3);
    proxy = await startApiProxy(drop.url);
    drop.url = proxy.url;
  });
  afterEach(() => proxy.stop());

  const run = (...more: string[]) => drop.json("--yes", ...more);
  const report = async () => (await drop.report()).join("\n");
  const named = (name: string) => proxy.calls.filter((call) => call.name === name);

  for (const answer of [{ status: 413 }, { status: 422, body: REFUSED }]) {
    it(`finds the token for which batches are refused with ${answer.status.toString()}, and mints the others`, async () => {
      proxy.intercept = ({ name, body }) => (name === BATCH && body.includes('"Cat 2"') ? answer : undefined);
      expect(await run()).to.include({ completed: 2, failed: 1, exit: 1 });
      expect(await drop.mintedNames()).to.deep.equal(["Cat 1", "Cat 3"]);
      expect(await report()).to.match(new RegExp(`json/2.json,,,refused,.*${answer.status.toString()}`));
      proxy.intercept = () => undefined;
      expect(await run("--retry-failed")).to.include({ completed: 3, failed: 0, exit: 0 });
      expect(await drop.mintedNames()).to.deep.equal(["Cat 1", "Cat 2", "Cat 3"]);
    });
  }

  it("keeps a batch whose answer was lost when its repetition is too large", async () => {
    proxy.intercept = ({ name }) => {
      if (name !== BATCH) return undefined;
      return named(BATCH).length === 1 ? "lost" : { status: 413 };
    };
    expect((await rejectionOf(run())).message).to.contain("It may have been accepted before");
    expect((await rejectionOf(run())).message).to.contain("It may have been accepted before");
    proxy.intercept = () => undefined;
    expect(await run()).to.include({ completed: 3, exit: 0 });
    expect(await drop.mintedNames()).to.deep.equal(["Cat 1", "Cat 2", "Cat 3"]);
  });

  it("uploads the files of such a batch again when their uploads are old", async () => {
    proxy.intercept = ({ name }) => {
      if (name !== BATCH) return undefined;
      return named(BATCH).length === 1 ? "lost" : { status: 413 };
    };
    await rejectionOf(run());
    const journal = join(place.path, ".moneta-drop.jsonl");
    const text = await readFile(journal, "utf8");
    await writeFile(journal, text.replace(/("entry":"upload".*"at":)\d+/g, "$10"));
    proxy.intercept = () => undefined;
    proxy.calls = [];
    await run();
    const order = proxy.calls.map(({ name }) => name).filter((name) => [BATCH, MEDIA].includes(name));
    expect(order).to.deep.equal([MEDIA, MEDIA, MEDIA, BATCH]);
  });

  it("continues a drop that version 0.3.0 began, with its keys and bodies", async () => {
    proxy.intercept = ({ name, body }) => {
      if (name !== BATCH) return undefined;
      return body.includes('"Cat 1"') && named(BATCH).length === 1 ? "lost" : { status: 413 };
    };
    await rejectionOf(run());
    const journal = join(place.path, JOURNAL);
    await writeFile(journal, (await readFile(journal, "utf8")).split("\n").map(asEarlier).join("\n"));
    proxy.intercept = () => undefined;
    proxy.calls = [];
    expect(await run()).to.include({ completed: 3, failed: 0, exit: 0 });
    expect(proxy.calls.filter(({ name }) => name === MEDIA)).to.have.length(0);
    // The service had taken the first batch.
    expect(await drop.mintedNames()).to.deep.equal(["Cat 1", "Cat 2", "Cat 3"]);
    expect(await run("--retry-failed")).to.include({ completed: 3 });
    expect(await drop.minted()).to.have.length(3);
  });

  it("reports a request that the service does not know any more, and does not mint its token again", async () => {
    let forgotten = "";
    proxy.intercept = ({ name }) => {
      if (!/^GET \/v1\/requests\/[0-9a-f]+$/.test(name)) return undefined;
      forgotten ||= name;
      const body = { error_code: "not_found", message: "No such request.", errors: null };
      return name === forgotten ? { status: 404, body } : undefined;
    };
    expect(await run()).to.include({ completed: 2, failed: 0, unknown: 1, exit: 1 });
    expect(await report()).to.match(/json\/1.json,,[0-9a-f]{64},unknown,.*Look whether the collection has the token/);
    expect(await run("--retry-failed")).to.include({ completed: 2, unknown: 1, exit: 1 });
    expect(named(BATCH)).to.have.length(1);
  });

  it("bounds the bytes that it uploads at the same time", async () => {
    for (const number of [1, 2, 3]) {
      const padding = `<!--${"x".repeat(6 * 1_048_576)}-->`;
      await writeFile(join(place.path, "images", `${number.toString()}.svg`), picture(number) + padding);
    }
    expect(await run()).to.include({ completed: 3 });
    expect(proxy.mostBytes).to.be.within(6 * 1_048_576, 16 * 1_048_576);
  });
});
