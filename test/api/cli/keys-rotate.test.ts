import { randomBytes } from "node:crypto";

import { expect } from "chai";

import { secretKeys } from "../../../api/config/parsers.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { readMeta, writeMeta } from "../../../api/store/db/meta.ts";
import { sealWithoutPlace } from "../../support/test-keys.ts";
import { useService } from "../../support/use-service.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describe("command line: keys rotate", () => {
  const [oldKey, newKey] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
  const OLD = { SECRET_KEYS: oldKey };
  const BOTH = { SECRET_KEYS: `${newKey},${oldKey}` };
  const NEW = { SECRET_KEYS: newKey };
  // Each test starts with the old key again, and counts all that is encrypted.
  const moneta = useService({ per: "test", start: false });
  const { api } = moneta;

  interface Rotated {
    resealed: number;
    unchanged: number;
    idempotency_keys: number;
  }
  const mint = async (collection: string, to: string, content: string) => {
    const fields = { collection_address: collection, to_address: to, unlockable_content: content };
    return (await api.completed("/v1/nfts", fields)).request_id;
  };
  const stored = async ({ read }: Database, id: string) => {
    const row = await read.selectFrom("requests").select("unlockable").where("id", "=", id).executeTakeFirstOrThrow();
    return row.unlockable ?? "";
  };
  const store = (database: Database, id: string, unlockable: string) =>
    database.write((trx) => trx.updateTable("requests").set({ unlockable }).where("id", "=", id).execute());
  const rotate = (more: Record<string, string>) => jsonOfCli<Rotated>({ ...moneta.env, ...more }, "keys", "rotate");

  it("re-encrypts everything while the service runs, after which the old key can be removed", async () => {
    await moneta.start(OLD);
    const wallet = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    const mintAll = (count: number, word: string) =>
      Promise.all(Array.from({ length: count }, (_, i) => mint(collection, wallet, `${word} ${i.toString()}`)));
    await mintAll(120, "secret");
    await api.ok("PUT", "/v1/webhook", { url: "http://127.0.0.1:9/" });
    await api.send("POST", "/v1/accounts", { user_identifier: "first" }, { "idempotency-key": "one" });

    await moneta.restart(BOTH);
    const busy = mintAll(40, "during");
    const first = await rotate(BOTH);
    expect(first).to.include({ resealed: 121, idempotency_keys: 1 });
    await busy;
    expect(await rotate(BOTH)).to.include({ resealed: 0, unchanged: 161 });

    await moneta.restart(NEW);
    const contents: string[] = [];
    for (let offset = 0; offset < 160; offset += 30) {
      const { nfts } = await api.ok<{ nfts: { unlockable_content: string }[] }>(
        "GET",
        `/v1/accounts/${wallet}?limit=30&offset=${offset.toString()}`,
      );
      contents.push(...nfts.map((nft) => nft.unlockable_content));
    }
    const expected = [
      ...Array.from({ length: 120 }, (_, i) => `secret ${i.toString()}`),
      ...Array.from({ length: 40 }, (_, i) => `during ${i.toString()}`),
    ];
    expect(contents.sort()).to.deep.equal(expected.sort());
    expect(await api.ok("POST", "/v1/webhook/secret")).to.have.property("secret");
    // Refused, as the command warned, and not carried out a second time.
    const repeated = await api.send("POST", "/v1/accounts", { user_identifier: "first" }, { "idempotency-key": "one" });
    expect(repeated.status).to.equal(409);
  });

  it("continues after an interruption, and names the value that a missing key encrypts", async () => {
    await moneta.start(OLD);
    const wallet = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    for (const content of ["a", "b"]) await mint(collection, wallet, content);
    const last = await mint(collection, wallet, "c");
    await moneta.stop();
    expect((await rejectionOf(rotate(NEW))).message).to.match(
      /request [0-9a-f]{64} cannot be decrypted: .* Keep every older key/,
    );
    const database = await openDatabase(moneta.databaseUrl);
    try {
      const sealed = await stored(database, last);
      await store(database, last, "not sealed at all");
      expect((await rejectionOf(rotate(BOTH))).message).to.match(/is not encrypted/);
      await store(database, last, sealed);
      expect(await rotate(BOTH)).to.include({ resealed: 3, unchanged: 0 });
      expect(await rotate(NEW)).to.include({ resealed: 0, unchanged: 3 });
    } finally {
      await database.close();
    }
  });

  it("given values that an earlier version encrypted: binds them to their rows, and from then on refuses values that name no row or another one", async () => {
    await moneta.start(OLD);
    const [first, second] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    const ofFirst = await mint(collection, first, "of the first");
    const ofSecond = await mint(collection, second, "of the second");
    const { database } = moneta.service;
    const contents = async (wallet: string) => {
      const answer = await api.send("GET", `/v1/accounts/${wallet}`);
      const { nfts } = answer.body as { nfts?: { unlockable_content: string }[] };
      return answer.status === 200 ? nfts?.map((nft) => nft.unlockable_content) : answer.status;
    };

    // A database as version 0.2.0 leaves it, and as the migration finds it.
    const [key] = secretKeys.parse(oldKey);
    if (key === undefined) throw new Error("the setting holds a key");
    const unbound = await sealWithoutPlace(key, "of the first");
    await store(database, ofFirst, unbound);
    await database.write((trx) => writeMeta(trx, "unbound_values", "accepted"));
    expect(await contents(first)).to.deep.equal(["of the first"]);
    await store(database, ofSecond, unbound);
    expect(await contents(second), "who can write the database can still move it").to.deep.equal(["of the first"]);
    await store(database, ofSecond, await sealWithoutPlace(key, "of the second"));

    expect(await rotate(OLD)).to.include({ resealed: 2, unchanged: 0 });
    expect([await contents(first), await contents(second)]).to.deep.equal([["of the first"], ["of the second"]]);
    expect(await readMeta(database.read, "unbound_values")).to.equal(null);
    const bound = await stored(database, ofFirst);
    for (const moved of [unbound, bound]) {
      await store(database, ofSecond, moved);
      expect(await contents(second)).to.equal(500);
    }
    expect(await contents(first)).to.deep.equal(["of the first"]);
    const examined = await runCli({ ...moneta.env, ...OLD }, "doctor");
    expect(examined.failed).to.equal(true);
    expect(examined.output).to.include(
      `the unlockable content of request ${ofSecond} (the value was encrypted for another row`,
    );
  });
});
