import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { Rpc } from "../../api/chain/rpc.ts";
import { anvilBinary } from "../../scripts/scene/anvil.ts";
import { freePort } from "../../scripts/scene/loopback.ts";
import { ApiClient } from "../support/api-client.ts";
import { eventually } from "../support/eventually.ts";
import type { TestProcess } from "../support/process.ts";
import { useFolder } from "../support/use-folder.ts";
import { released } from "./support/ports.ts";
import { serving, start } from "./support/start.ts";

const STATE = "chain-state.json.gz";
/** The system has no Anvil. */
const WITHOUT_ANVIL = `--import=data:text/javascript,${encodeURIComponent(`
  import Module from "node:module";
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    if (name.startsWith("@foundry-rs/")) throw Object.assign(new Error(name), { code: "MODULE_NOT_FOUND" });
    return resolve.call(this, name, ...rest);
  };`)}`;

interface Seen {
  collections: { address: string; image: string | null; minted: number }[];
  alice: string;
  nfts: unknown[];
}

describe("npm start, again", () => {
  const folder = useFolder({ per: "block" });
  let ports: { PORT: number; RPC_PORT: number };
  let dataDir: string;
  const started: TestProcess[] = [];

  before(async function () {
    if (anvilBinary() === null) this.skip();
    dataDir = join(folder.path, "local");
    ports = { PORT: await freePort(), RPC_PORT: await freePort() };
  });
  afterEach(async () => {
    for (const program of started.splice(0)) if (!program.exited) await program.end("SIGKILL");
  });

  async function run(args: string[] = [], more: { TOUR?: "0"; NODE_OPTIONS?: string } = {}) {
    const program = start({ ...ports, DATA_DIR: dataDir, ...more }, args);
    started.push(program);
    const token = await serving(program);
    return { program, token, api: ApiClient.at(`http://127.0.0.1:${ports.PORT}`, token) };
  }

  async function end(program: TestProcess, signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    expect(await program.end(signal)).to.equal(signal === "SIGKILL" ? "SIGKILL" : 0);
    await released(ports.RPC_PORT);
  }

  /** What the first start has made, as the API shows it. */
  async function look(api: ApiClient): Promise<Seen> {
    const { collections } = await api.ok<Pick<Seen, "collections">>("GET", "/v1/collections");
    const { address: alice } = await api.ok<{ address: string }>("GET", "/v1/accounts/user/tour-alice");
    const { nfts } = await api.ok<{ nfts: unknown[] }>("GET", `/v1/accounts/${alice}`);
    return { collections, alice, nfts };
  }

  /** The old database, which the program says that it has renamed, is there. */
  async function expectAside(program: TestProcess, why: RegExp): Promise<void> {
    expect(program.output).to.match(why);
    const [, aside] = /The old one was renamed: (\S+)\n/.exec(program.output) ?? [];
    expect((await stat(aside!)).size).to.be.greaterThan(0);
  }

  const state = () => join(dataDir, STATE);

  const newest = (database: BetterSqlite3.Database) =>
    Number(database.prepare("select coalesce(max(position), 0) from events").pluck().get());

  it("goes on where Ctrl-C stopped it: the same token, data and pictures, without the tour", async () => {
    const first = await run();
    expect(first.program.output).to.contain("Create two wallets");
    const before = await look(first.api);
    expect(before.collections).to.have.length(2);
    await end(first.program);
    for (const file of [STATE, "token"]) {
      expect((await stat(join(dataDir, file))).mode & 0o777, file).to.equal(0o600);
    }

    const { program, token, api } = await run();
    expect(token).to.equal(first.token);
    expect(program.output)
      .to.contain("goes on with the data of the last start,\nwithout the tour. To begin anew: npm start -- --fresh\n")
      .and.to.not.contain("Create two wallets")
      .and.to.not.contain("renamed");
    expect(await look(api)).to.deep.equal(before);
    for (const { image } of before.collections) {
      const answer = await fetch(`http://127.0.0.1:${ports.PORT}/ipfs/${image!.slice("ipfs://".length)}`);
      expect(answer.status).to.equal(200);
    }
    const minted = { collection_address: before.collections[0]!.address, to_address: before.alice, name: "Later" };
    expect((await api.done("/v1/nfts", minted)).status).to.equal("completed");
    expect((await look(api)).collections[0]!.minted).to.equal(before.collections[0]!.minted + 1);
    await end(program);
  });

  it("completes each request once that was pending when Ctrl-C came", async () => {
    const { program, api } = await run();
    const { collections, alice } = await look(api);
    const item = { collection_address: collections[0]!.address, to_address: alice, name: "Pending" };
    const { results } = await api.ok<{ results: { request_id: string }[] }>("POST", "/v1/nfts/batch", {
      items: Array.from({ length: 30 }, () => item),
    });
    await end(program);

    const again = await run();
    for (const { request_id: id } of results) {
      const settled = await again.api.settled(id);
      expect(settled.status).to.equal("completed");
    }
    expect((await look(again.api)).collections[0]!.minted).to.equal(collections[0]!.minted + results.length);
    await end(again.program);
  });

  it("goes on after kill -9 when the newest block was saved", async () => {
    const { program, token, api } = await run();
    const before = await look(api);
    await newestBlockSaved();
    await end(program, "SIGKILL");

    const again = await run();
    expect(again.token).to.equal(token);
    expect(await look(again.api)).to.deep.equal(before);
    await end(again.program);
  });

  it("keeps app, token, webhook, users and quotas after kill -9 when the newest block was not saved", async () => {
    const { program, token, api } = await run([], { TOUR: "0" });
    // Nobody listens there: the events of the old chain stay due.
    const webhook = { url: `http://127.0.0.1:${(await freePort()).toString()}/hook` };
    await api.ok("PUT", "/v1/webhook", webhook);
    const users = { alice: (await look(api)).alice, bob: await api.wallet("bob") };
    const database = new BetterSqlite3(join(dataDir, "moneta.sqlite"));
    database.exec("update apps set quota_mints = 77");
    const secrets = (from: BetterSqlite3.Database) => from.prepare("select url, secrets from webhooks").all();
    const [kept, position] = [secrets(database), newest(database)];
    database.close();
    await newestBlockSaved();
    const older = await readFile(state());
    expect((await api.done("/v1/collections", { type: "ERC721", name: "Lost", symbol: "L" })).status).to.equal(
      "completed",
    );
    await end(program, "SIGKILL");
    await writeFile(state(), older);

    const again = await run([], { TOUR: "0" });
    await expectAside(
      again.program,
      /^The last start was killed before it saved the newest blocks: the local chain and/m,
    );
    expect(again.program.output).to.match(
      /^Kept: apps, API tokens, webhooks, users with their addresses, .*\. Gone with the old chain: 3 collections, \d+ tokens and \d+ requests\.$/m,
    );
    expect(again.token).to.equal(token);
    expect(await again.api.ok<{ total: number }>("GET", "/v1/collections")).to.include({ total: 0 });
    expect((await look(again.api)).alice).to.equal(users.alice);
    expect((await again.api.ok<{ address: string }>("GET", "/v1/accounts/user/bob")).address).to.equal(users.bob);
    expect(await again.api.ok("GET", "/v1/webhook")).to.include(webhook);
    const { events } = await again.api.ok<{ events: unknown[] }>("GET", "/v1/events");
    expect(events).to.deep.equal([]);
    // It works: the new chain mints to the same wallet, with the next position of the feed.
    const collection = await again.api.collection({ type: "ERC721" });
    const minted = { collection_address: collection, to_address: users.alice, name: "New" };
    expect((await again.api.done("/v1/nfts", minted)).status).to.equal("completed");
    const after = new BetterSqlite3(join(dataDir, "moneta.sqlite"), { readonly: true });
    expect(secrets(after)).to.deep.equal(kept);
    expect(after.prepare("select distinct quota_mints from apps").pluck().all()).to.deep.equal([77]);
    expect(after.prepare("select min(position) from events").pluck().get()).to.be.above(position);
    after.close();
    await again.api.ok("DELETE", "/v1/webhook");
    await end(again.program);
  });

  it("does not touch the database of another chain", async () => {
    const other = join(folder.path, "other");
    await mkdir(other);
    const database = new BetterSqlite3(join(other, "moneta.sqlite"));
    database.exec("create table meta (key text, value text); insert into meta values ('chain_id', '11155111')");
    database.close();
    const program = start({ ...ports, DATA_DIR: other, TOUR: "0" }, ["--fresh"]);
    started.push(program);
    expect(await program.gone()).to.equal(1);
    expect(program.output).to.match(
      /moneta\.sqlite belongs to chain 11155111, not to a local chain\. Nothing was changed\./,
    );
    expect(await readdir(other)).to.include("moneta.sqlite");
  });

  const damages: [string, () => Promise<void>][] = [
    ["is cut in half", async () => truncate(state(), Math.floor((await stat(state())).size / 2))],
    [
      "is of a program that Anvil does not know",
      async () => writeFile(state(), gzipSync('{"began":9}\n{"version":9}')),
    ],
  ];
  for (const [title, damage] of damages) {
    it(`begins anew when the state ${title}, and renames the database`, async () => {
      await damage();
      const { program } = await run([], { TOUR: "0" });
      await expectAside(
        program,
        /^The state of the last chain cannot be read: the local chain and the database begin/m,
      );
      expect((await readdir(dataDir)).filter((name) => name.startsWith("chain-state"))).to.not.include(
        "chain-state.json",
      );
      await end(program);
    });
  }

  it("says that the database cannot be opened, and changes nothing", async () => {
    const database = join(dataDir, "moneta.sqlite");
    const kept = await readFile(database);
    await writeFile(database, "not a database");
    const files = await readdir(dataDir);
    const program = start({ ...ports, DATA_DIR: dataDir, TOUR: "0" });
    started.push(program);
    expect(await program.gone()).to.equal(1);
    await writeFile(database, kept);
    expect(program.output)
      .to.match(
        /moneta\.sqlite.*\nNothing was changed\. To begin anew, and rename the database: npm start -- --fresh\n$/,
      )
      .and.not.match(/^ +at /m);
    expect(await readdir(dataDir)).to.deep.equal(files);
  });

  it("begins anew with --fresh, and renames the database", async () => {
    const { program, token } = await run(["--fresh"], { TOUR: "0" });
    await expectAside(program, /^Because of --fresh, the local chain and the database begin anew\./m);
    await end(program);
    const again = await run([], { TOUR: "0" });
    expect(again.token).to.equal(token);
    await end(again.program);
  });

  it("creates another token when the file is lost, for the same app", async () => {
    await rm(join(dataDir, "token"));
    const { program, api } = await run([], { TOUR: "0" });
    expect(program.output).to.contain("goes on with the data of the last start");
    expect(await api.ok<{ total: number }>("GET", "/v1/collections")).to.include({ total: 0 });
    await end(program);
  });

  it("says that the state could not be saved, and keeps the older one", async () => {
    const { program, api } = await run([], { TOUR: "0" });
    await newestBlockSaved();
    // Nothing can be written there, as on a full disk. Not before the end of a save that is on its way.
    await eventually(async () => {
      try {
        await mkdir(`${state()}.new`);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return undefined;
      }
    });
    const older = await readFile(state());
    await api.done("/v1/collections", { type: "ERC721", name: "Unsaved", symbol: "U" });
    await program.printed(/^The state of the local chain cannot be saved now, and it is tried again: .*EISDIR/m);
    expect(await program.end("SIGINT")).to.equal(1);
    await rm(`${state()}.new`, { recursive: true });
    expect(program.output).to.match(/^The state of the local chain could not be saved: .*EISDIR/m);
    expect((await readFile(state())).equals(older)).to.equal(true);
  });

  it("says where Anvil is missing that data are not kept, and renames the database at each start", async () => {
    const first = await run([], { TOUR: "0", NODE_OPTIONS: WITHOUT_ANVIL });
    expect(first.program.output).to.contain(
      "Anvil is not installed (there is a package for Linux on x64 only), so data are not kept after this start.\n",
    );
    await expectAside(first.program, /^The last chain is gone: the local chain and the database begin anew\./m);
    await end(first.program);
    expect(await readdir(dataDir)).to.not.include(STATE);
    const second = await run([], { TOUR: "0", NODE_OPTIONS: WITHOUT_ANVIL });
    await expectAside(second.program, /^The last chain is gone: /m);
    expect(second.token).to.equal(first.token);
    await end(second.program);
    // And with Anvil again.
    const { program } = await run([], { TOUR: "0" });
    await expectAside(program, /^The state of the last chain is not there: /m);
    await end(program);
  });

  async function newestBlockSaved(): Promise<void> {
    const rpc = new Rpc(`http://127.0.0.1:${ports.RPC_PORT}`);
    await eventually(async () => {
      const saved = JSON.parse(
        gunzipSync(await readFile(state()))
          .toString()
          .split("\n")[1]!,
      ) as { best_block_number: number };
      return saved.best_block_number === Number(await rpc.call("eth_blockNumber", [])) ? true : undefined;
    });
  }
});
