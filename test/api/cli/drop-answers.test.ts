import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { JOURNAL } from "../../../client/drop-node/journal.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { type ApiProxy, startApiProxy } from "./support/api-proxy.ts";
import { picture, useDrop } from "./support/use-drop.ts";

const BATCH = "POST /v1/nfts/batch";
const CHECK = "POST /v1/receivers/check";
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

  it("reports tokens that failed, and mints them again when asked, also with a service that cannot check receivers", async () => {
    const unknown = { error_code: "not_found", message: "There is no such path.", errors: null };
    proxy.intercept = ({ name }) => (name === CHECK ? { status: 404, body: unknown } : undefined);
    // A contract that takes no tokens.
    const to = ["--to", drop.collection];
    expect((await drop.run(...to)).output).to.contain(
      "This version of the service cannot check whether addresses accept",
    );
    expect(await run(...to)).to.include({ completed: 0, failed: 3, exit: 1 });
    expect((await drop.report())[1]).to.match(/,failed,receiver_rejected/);
    expect(await run(...to)).to.include({ failed: 3, exit: 1 });
    expect(await run(...to, "--retry-failed")).to.include({ completed: 0, failed: 3, exit: 1 });
    const { total } = await drop.moneta.api.ok<{ total: number }>("GET", "/v1/requests?status=failed&type=mint");
    expect(total).to.equal(6);
  });

  it("checks 1,000 addresses at most, 100 with a call, and says how many", async () => {
    const sent: string[][] = [];
    proxy.intercept = ({ name, body }) => {
      if (name !== CHECK) return undefined;
      const { addresses } = JSON.parse(body.toString()) as { addresses: string[] };
      sent.push(addresses);
      const answer = { kind: "account", user_identifier: null, delegate: null };
      const receivers = addresses.map((address, index) => {
        const [accepts, message] = sent.length === 2 && index === 0 ? [null, "The node could not tell."] : [true, null];
        return { ...answer, address, accepts, message };
      });
      return { status: 200, body: { receivers } };
    };
    await rm(join(place.path, "json"), { recursive: true });
    const rows = Array.from({ length: 1_001 }, (_, index) => `1.svg,A,0x${(index + 1).toString(16).padStart(40, "0")}`);
    await writeFile(join(place.path, "metadata.csv"), ["file,name,owner", ...rows, rows[0]].join("\n"));
    expect((await drop.run()).output).to.contain(
      "Whether tokens can arrive: 1000 of 1001 addresses were checked, and nothing is known about 1 of them.",
    );
    expect(sent.map(({ length }) => length)).to.deep.equal(Array.from({ length: 10 }, () => 100));
    expect(new Set(sent.flat()).size).to.equal(1_000);
  });

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
