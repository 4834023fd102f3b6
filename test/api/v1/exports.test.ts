import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";

import { expect } from "chai";

import { writeMeta } from "../../../api/store/db/meta.ts";
import { randomAddress } from "../support/rows.ts";
import { addCollection, addMint, addMove, addWallet, confirmUpTo } from "../support/api-rows.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { addApp, type TestApi } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { eventually } from "../../support/eventually.ts";

const CSV = { headers: { accept: "text/csv" } };

describe("exports", () => {
  // How long a further export waits for the one before it.
  const api = useApi({ limits: { waitSeconds: 1 } });

  const rowsOf = (text: string) =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const user = async (name: string) => (await api.post("/v1/accounts", { user_identifier: name })).body.address ?? "";

  /** Files of exports: those with a name, and on Linux also those without one that this process has open. */
  async function filesOf(server: TestApi): Promise<string[]> {
    const folder = join(server.blocksFolder, "..", "exports");
    const open = process.platform === "linux" ? await readdir("/proc/self/fd") : [];
    const files = await Promise.all(open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
    return [...(await readdir(folder)), ...files.filter((file) => file.startsWith(folder))];
  }

  function call(token: string): Socket {
    const socket = connect({ port: Number(new URL(api.baseUrl).port), host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.write(`GET /v1/exports/wallets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return socket;
  }

  /** Lets the rows of exports be read only after `go`. `reading` counts those that want to. */
  function holdReading() {
    const held = { reading: 0, go: (): void => undefined };
    const gone = new Promise<void>((resolve) => (held.go = resolve));
    onSnapshot(async (run) => {
      held.reading += 1;
      await gone;
      return run();
    });
    return held;
  }

  /** Runs something around the reading of an export. */
  function onSnapshot(around: <T>(run: () => Promise<T>) => Promise<T>): void {
    const original = { ...api.database };
    const watched: typeof original.snapshot = (reads) => around(() => original.snapshot(reads));
    Object.assign(api.database, { snapshot: watched });
  }

  /** Wallets without a user, all stored at once. */
  async function storeWallets(count: number): Promise<void> {
    const created = { app_id: api.app.id, user_identifier: null, path: "1/2/3", created_at: 1 };
    const rows = Array.from({ length: count }, () => ({ ...created, address: randomAddress() }));
    await api.database.write(async (trx) => {
      for (let from = 0; from < rows.length; from += 500) {
        await trx
          .insertInto("wallets")
          .values(rows.slice(from, from + 500))
          .execute();
      }
    });
  }

  describe("of holders", () => {
    it("have each owner of each token as the listings show it, and name the block", async () => {
      const [alice, stranger] = [await user("alice"), randomAddress()];
      const contract = await addCollection(api, { type: "ERC1155" });
      const edition = { contract, type: "ERC1155" as const, tokenId: 7 };
      await addMint(api, { ...edition, to: alice, quantity: 5, block: 5 });
      await addMint(api, { contract, type: "ERC1155", to: alice, tokenId: 2n ** 200n, quantity: 1, block: 6 });
      await confirmUpTo(api, 8);
      await addMove(api, { contract, tokenId: 7, from: alice, to: stranger, quantity: 2, block: 9 });
      await api.database.write((trx) => writeMeta(trx, "checkpoint", "10"));
      const answer = await api.get(`/v1/exports/holders?collection=${contract.toLowerCase()}`);
      expect(answer.status).to.equal(200);
      const rows = rowsOf(answer.text);
      expect(rows).to.have.deep.members([
        { user_identifier: "alice", address: alice, token_id: 7, quantity: 3, since_block: 5, final: false },
        { user_identifier: null, address: stranger, token_id: 7, quantity: 2, since_block: 9, final: false },
        {
          user_identifier: "alice",
          address: alice,
          token_id: (2n ** 200n).toString(),
          quantity: 1,
          since_block: 6,
          final: true,
        },
      ]);
      const block = answer.headers.get("moneta-as-of-block") ?? "";
      expect(block).to.equal("10");
      expect(answer.headers.get("content-type")).to.equal("application/x-ndjson; charset=utf-8");
      const name = `holders-${contract}-block-${block}.ndjson`;
      expect(answer.headers.get("content-disposition")).to.equal(`attachment; filename="${name}"`);
    });

    it("leave out burnt tokens, and name no user of another app", async () => {
      const theirs = await addWallet(api, api.other.token);
      const contract = await addCollection(api);
      await addMint(api, { contract, to: theirs, tokenId: 1 });
      await addMint(api, { contract, to: theirs, tokenId: 2 });
      await addMove(api, { contract, tokenId: 2, from: theirs, to: null });
      const rows = rowsOf((await api.get(`/v1/exports/holders?collection=${contract}`)).text);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ user_identifier: null, address: theirs, token_id: 1 });
    });

    it("are refused without a collection, for one that is not created yet, and for a contract of others", async () => {
      expectInvalid(await api.get("/v1/exports/holders"), { collection: "required" });
      expectInvalid(await api.get("/v1/exports/holders?collection=0x12"), { collection: "invalid_format" });
      const [pending, theirs] = [
        await addCollection(api, { listed: false }),
        await addCollection(api, { app: api.other.id }),
      ];
      for (const address of [pending, theirs, randomAddress()]) {
        expectRefusal(await api.get(`/v1/exports/holders?collection=${address}`), 404, "not_found");
      }
    });
  });

  describe("of wallets", () => {
    it("have all wallets of the app, oldest first, without a gap between chunks", async () => {
      await storeWallets(601);
      await addWallet(api, api.other.token);
      const stored = await api.database.read
        .selectFrom("wallets")
        .select("address")
        .where("app_id", "=", api.app.id)
        .orderBy("seq")
        .execute();
      const rows = rowsOf((await api.get("/v1/exports/wallets")).text);
      expect(rows.map(({ address }) => address)).to.deep.equal(stored.map(({ address }) => address));
      expect(rows).to.have.length(601);
      expect(rows[0]).to.have.all.keys("user_identifier", "address", "created_at", "watch_only");
    });

    it("as CSV quote texts and disarm formulas, and a program can undo that", async () => {
      const names = ["alice", '=HYPERLINK("x","y")', "+1", "-1", "@a", "'a", 'b,"c', "a;=1", "＝1", "ä"];
      const addresses: string[] = [];
      for (const name of names) addresses.push(await user(name));
      addresses.push(await addWallet(api));
      const answer = await api.get("/v1/exports/wallets", CSV);
      expect(answer.headers.get("content-type")).to.equal("text/csv; charset=utf-8");
      const [head, ...lines] = answer.text.split("\r\n");
      expect(head).to.equal("user_identifier,address,created_at,watch_only");
      const shown = ["alice", `'=HYPERLINK(""x"",""y"")`, "'+1", "'-1", "'@a", "''a", `b,""c`, "a;=1", "'＝1", "ä"];
      const times = rowsOf((await api.get("/v1/exports/wallets")).text).map((row) => String(row["created_at"]));
      const expected = [...shown.map((name) => `"${name}"`), ""].map(
        (name, index) => `${name},"${addresses[index] ?? ""}","${times[index] ?? ""}",false`,
      );
      expect(lines).to.deep.equal([...expected, ""]);
    });

    it("have only the names of the columns when there are none", async () => {
      expect((await api.get("/v1/exports/wallets", CSV)).text).to.equal(
        "user_identifier,address,created_at,watch_only\r\n",
      );
      const answer = await api.get("/v1/exports/wallets");
      expect([answer.status, answer.text, answer.headers.get("content-length")]).to.deep.equal([200, "", "0"]);
    });
  });

  it("follow `Accept`, and refuse one that allows neither format", async () => {
    const typeFor = async (accept: string) => {
      const answer = await api.get("/v1/exports/wallets", { headers: { accept } });
      return (answer.headers.get("content-type") ?? "").split(";")[0];
    };
    expect(await typeFor("*/*")).to.equal("application/x-ndjson");
    expect(await typeFor("text/csv;q=0.5, application/x-ndjson")).to.equal("application/x-ndjson");
    expect(await typeFor("text/*, application/json")).to.equal("text/csv");
    expectInvalid(await api.get("/v1/exports/wallets", { headers: { accept: "application/json" } }), {
      Accept: "invalid",
    });
  });

  it("answer HEAD without reading rows, and refuse other methods and queries", async () => {
    const head = await api.call("HEAD", "/v1/exports/wallets");
    expect(head.status).to.equal(200);
    expect(head.headers.get("content-type")).to.equal("application/x-ndjson; charset=utf-8");
    expect(head.headers.has("content-length")).to.equal(false);
    expectRefusal(await api.post("/v1/exports/wallets", {}), 405, "method_not_allowed");
    expectInvalid(await api.get("/v1/exports/wallets?limit=1"), { limit: "unknown_field" });
  });

  it("are refused when the token was revoked while the rows were read", async () => {
    onSnapshot(async (run) => {
      const rows = await run();
      await api.database.write((trx) => trx.updateTable("api_tokens").set({ revoked_at: 1 }).execute());
      return rows;
    });
    expectRefusal(await api.get("/v1/exports/wallets"), 401, "unauthorized");
  });

  it("add so few listeners to an answer that Node warns of no leak", async () => {
    const warnings: string[] = [];
    const note = (warning: Error) => warnings.push(warning.message);
    process.on("warning", note);
    try {
      await addWallet(api);
      expect((await api.get("/v1/exports/wallets")).status).to.equal(200);
    } finally {
      process.off("warning", note);
    }
    expect(warnings).to.deep.equal([]);
  });

  describe("given a disk that is nearly full", () => {
    const full = useApi({ limits: { freeDiskBytes: Number.MAX_SAFE_INTEGER } });

    it("get 503, and leave no file", async () => {
      expectRefusal(await full.get("/v1/exports/wallets", CSV), 503, "unavailable");
      expect(await filesOf(full)).to.deep.equal([]);
    });
  });

  describe("given more rows than one export may have", () => {
    const short = useApi({ limits: { exportBytes: 300, waitSeconds: 1 } });

    it("are refused while they are read, leave no file, and free the place", async () => {
      await addWallet(short);
      expect((await short.get("/v1/exports/wallets")).status).to.equal(200);
      for (let count = 0; count < 3; count++) await addWallet(short);
      for (let count = 0; count < 2; count++) {
        const refused = await short.get("/v1/exports/wallets");
        expectRefusal(refused, 429, "quota_exceeded");
        expect(refused.text).to.include("The export has more than 300 bytes");
        expect(refused.headers.has("content-disposition")).to.equal(false);
      }
      expect(await filesOf(short)).to.deep.equal([]);
    });
  });

  describe("given rows that take too long to read", () => {
    const slow = useApi({ limits: { exportSeconds: 0, waitSeconds: 1 } });

    it("are refused, leave no file, and free the place", async () => {
      expect((await slow.get("/v1/exports/wallets")).status).to.equal(200);
      await addWallet(slow);
      for (let count = 0; count < 2; count++) {
        const refused = await slow.get("/v1/exports/wallets");
        expectRefusal(refused, 429, "quota_exceeded");
        expect(refused.text).to.include("The export takes more than 0 seconds");
      }
      expect(await filesOf(slow)).to.deep.equal([]);
    });
  });

  it("are two at a time of all apps, and the place of one that ends is free", async () => {
    const held = holdReading();
    const { token } = await addApp(api, "third");
    const first = [api.app.token, api.other.token].map((one) => api.get("/v1/exports/wallets", { token: one }));
    await eventually(() => held.reading === 2 || undefined);
    expectRefusal(await api.get("/v1/exports/wallets", { token }), 503, "unavailable");
    held.go();
    for (const answer of await Promise.all(first)) expect(answer.status).to.equal(200);
    expect((await api.get("/v1/exports/wallets", { token })).status).to.equal(200);
  });

  it("end when the caller goes away while the rows are read", async () => {
    const held = holdReading();
    const socket = call(api.app.token);
    await eventually(() => held.reading === 1 || undefined);
    expect(await filesOf(api)).to.have.length(process.platform === "linux" ? 1 : 0);
    socket.destroy();
    held.go();
    await eventually(async () => ((await api.get("/v1/exports/wallets")).status === 200 ? true : undefined));
    expect(await filesOf(api)).to.deep.equal([]);
  });

  describe("given callers that do not read their answers", () => {
    let sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      sockets = [];
    });

    /** Calls, and stops reading when the answer begins. More rows than the system keeps for a connection. */
    async function begin(token: string): Promise<Socket> {
      const socket = call(token);
      sockets.push(socket);
      await once(socket, "data");
      socket.pause();
      return socket;
    }

    it("lets an app have one export until its caller is gone, and leaves no file", async () => {
      await storeWallets(60_000);
      let snapshots = 0;
      onSnapshot(async (run) => {
        snapshots += 1;
        return run().finally(() => (snapshots -= 1));
      });
      const first = await begin(api.app.token);
      expect(snapshots).to.equal(0);
      const refused = await api.get("/v1/exports/wallets");
      expectRefusal(refused, 503, "unavailable");
      expect(refused.headers.get("retry-after")).to.equal("5");
      // Other calls of the app are answered, and so are exports of other apps.
      expect((await api.get("/v1/accounts?limit=1")).status).to.equal(200);
      expect((await api.get("/v1/exports/wallets", { token: api.other.token })).status).to.equal(200);
      expect(await readdir(join(api.blocksFolder, "..", "exports"))).to.deep.equal([]);
      expect(await filesOf(api)).to.have.length(process.platform === "linux" ? 1 : 0);
      first.destroy();
      await eventually(async () => ((await api.get("/v1/exports/wallets")).status === 200 ? true : undefined));
      await eventually(async () => (await filesOf(api)).length === 0 || undefined);
    }).timeout(60_000);
  });
});
