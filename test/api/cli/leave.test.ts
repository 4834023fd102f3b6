import { createHash } from "node:crypto";
import { cp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";
import { fixedSize } from "ipfs-unixfs-importer/chunker";
import { importFile } from "ipfs-unixfs-importer";
import { CID } from "multiformats/cid";

import type { Shape } from "../../../client/client.ts";
import { NAMED_EVENTS } from "../../../api/domain/events.ts";
import { recordUpload } from "../../../api/commands/upload-media.ts";
import { BlockFiles } from "../../../api/content/block-files.ts";
import { createApp } from "../../../api/operate/apps.ts";
import { setQuotas } from "../../../api/store/apps/quotas.ts";
import { parseExact } from "../../../client/rules/exact-json.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { ApiClient } from "../../support/api-client.ts";
import { createTestDatabase } from "../../support/database.ts";
import { PNG } from "../../support/pictures.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { databaseSettings, startTestService } from "../../support/service.ts";
import { deployInto } from "../../support/shared-node.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { streamOf } from "../support/content.ts";
import { importKeys } from "./support/import-keys.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

type Json = Record<string, unknown>;

interface Exported {
  folder: string;
  complete: boolean;
  export: {
    files: Record<string, { rows: number; bytes: number; sha256: string; block: number }>;
    left_out: { unlockable: number; media: number };
  };
}

interface Imported {
  complete: boolean;
  added: Record<string, number>;
  present: Record<string, number>;
  left_out: { file: string; why: string; count: number; example: string | null }[];
}

const SECRET = "The cat sleeps in the attic.";
const TRAITS = [{ trait_type: "Luck", value: "7" }];
/** More than one block, so it can be split in more than one way. */
const LARGE = Buffer.concat([PNG, Buffer.alloc(1_500_000, 7)]);

describe("command line: export and import", () => {
  // A second installation stands beside it on the same chain.
  const moneta = useService({ settings: { MEDIA_STORE: "files" } });
  const { api } = moneta;
  const folder = useFolder({ per: "block" });
  let second: { service: Awaited<ReturnType<typeof startTestService>>; env: Record<string, string>; api: ApiClient };
  let [cats, gems, frozen, wizards] = ["", "", "", ""];
  let [alice, bob] = ["", ""];
  let exported: Exported;

  const upload = async (bytes: Buffer) => {
    const answer = await fetch(`${moneta.baseUrl}/v1/media`, {
      method: "POST",
      headers: { Authorization: `Bearer ${moneta.app.token}`, "Content-Type": "image/png" },
      body: new Uint8Array(bytes),
    });
    return (await answer.json()) as { uri: string };
  };
  const linesOf = async (name: string) =>
    (await readFile(join(exported.folder, `${name}.ndjson`), "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => parseExact(line) as Json);
  const importInto = (from: string, ...words: string[]) =>
    jsonOfCli<Imported>(second.env, "import", from, "--app", "heir", ...words);

  before("an app with everything", async () => {
    [alice, bob] = [await api.wallet("alice"), await api.wallet("bob")];
    const [image, large] = [await upload(PNG), await upload(LARGE)];
    cats = await api.collection({ type: "ERC721", name: "Cats", description: "All cats" });
    const split = await uploadSplit(Buffer.concat([PNG, Buffer.alloc(300_000, 1)]));
    gems = await api.collection({ type: "ERC1155", name: "Gems" });
    frozen = await api.collection({ type: "ERC721", name: "Ice" });
    await api.mint(cats, alice, { name: "Cat {token_id}", image: image.uri, attributes: TRAITS });
    await api.mint(cats, bob, { name: "Secretive", image: `ipfs://${split}`, unlockable_content: SECRET });
    await api.mint(cats, bob, { name: "Gone" });
    await api.create(gems, alice, "9007199254740993", 5, { name: "Ruby", image: large.uri });
    await api.move(cats, 1, alice, bob);
    await api.move(gems, "9007199254740993", alice, bob, 2);
    await api.completed("/v1/burns", { contract_address: cats, token_id: 3, from_address: bob });
    await api.mint(frozen, alice, { name: "Snow" });
    await api.settled(
      (await api.ok<{ request_id: string }>("POST", `/v1/collections/${frozen}/freeze`, {})).request_id,
    );
    const owner = await moneta.provider.getSigner(3);
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, 5);
    wizards = await contract.getAddress();
    await (await contract.transferFrom(owner.address, alice, 2)).wait();
    await runCli(moneta.env, "collection", "adopt", wizards, "--app", moneta.app.appId, "--allow");
  });

  /** A file that other software has split, with blocks that are not plain bytes. @returns its CID. */
  const uploadSplit = async (bytes: Buffer): Promise<string> => {
    const blocks = new BlockFiles(join(moneta.folder, "blocks"));
    const sink = {
      put: async (cid: CID, block: Uint8Array) => {
        await blocks.put(cid, block);
        return cid;
      },
    };
    const content = streamOf(bytes);
    const { cid, size } = await importFile({ content }, sink, {
      ...{ rawLeaves: false, cidVersion: 1, chunker: fixedSize({ chunkSize: 100_000 }) },
    });
    const file = { cid: cid.toString(), size: Number(size), type: "image/png" };
    const { database } = moneta.service;
    await database.write((trx) => recordUpload(trx, "files", { appId: moneta.app.appId, file }));
    return file.cid;
  };

  before("a second installation, with a seed, a database and contracts of its own", async () => {
    const dataDir = join(folder.path, "second");
    const database = await createTestDatabase({ folder: dataDir });
    const deployments = await deployInto(join(folder.path, "other"), moneta.node.url, "compact");
    const own = { DEPLOYMENTS_DIR: deployments, ...databaseSettings(database) };
    const service = await startTestService({ rpcUrl: moneta.node.url, dataDir, env: own });
    const { token } = await createApp(service, "heir");
    const env = { PORT: "0", RPC_URL: moneta.node.url, DATA_DIR: dataDir, ...own };
    second = { service, env, api: ApiClient.at(service.baseUrl, token) };
  });

  after("stop the second installation", () => second.service.stop());

  it("exports every row as the API shows it, with the digest of each file, and no secret", async () => {
    exported = await jsonOfCli<Exported>(moneta.env, "export", join(folder.path, "out"), "--app", moneta.app.appId);
    expect(exported.complete).to.equal(true);
    expect(exported.export.left_out).to.deep.equal({ unlockable: 1, media: 0 });
    for (const [name, { rows, bytes, sha256 }] of Object.entries(exported.export.files)) {
      const content = await readFile(join(exported.folder, name));
      expect(content.length, name).to.equal(bytes);
      expect(createHash("sha256").update(content).digest("hex"), name).to.equal(sha256);
      expect(content.toString().split("\n").length - 1, name).to.equal(rows);
      expect(content.toString(), name).not.to.contain(SECRET);
    }
    expect(await readdir(exported.folder)).not.to.contain("unlockable.ndjson");

    const tokens = await linesOf("tokens");
    for (const contract of [cats, gems, frozen, wizards]) {
      const { nfts } = await api.ok<{ nfts: Json[] }>("GET", `/v1/collections/${contract}?order=oldest`);
      expect(tokens.filter((row) => row["contract_address"] === contract)).to.deep.equal(nfts);
    }
    const { collections } = await api.ok<{ collections: Json[] }>("GET", "/v1/collections?order=oldest");
    const rows = await linesOf("collections");
    // An adopted collection says up to which block it is read.
    const own = ({ metadata: _metadata, adopted: _adopted, ...row }: Json) => row;
    expect(rows.map(own)).to.deep.equal(collections.map(own));
    expect(rows.map((row) => row["metadata"])).to.deep.include.members([
      { name: "Cats", symbol: rows[0]?.["symbol"], description: "All cats" },
      null,
    ]);
    expect((await linesOf("events")).slice(0, 30)).to.deep.equal(
      (await api.ok<{ events: Json[] }>("GET", `/v1/events?after=start&limit=30&types=${NAMED_EVENTS.join(",")}`))
        .events,
    );
    const { requests } = await api.ok<{ requests: Json[] }>("GET", "/v1/requests?order=oldest&limit=30");
    expect(await linesOf("requests")).to.deep.equal(requests);
    const history = (await linesOf("history")).filter(
      (row) => row["contract_address"] === cats && row["token_id"] === 1,
    );
    const { history: newest } = await api.ok<{ history: Json[] }>("GET", `/v1/collections/${cats}/1/history`);
    expect(history).to.deep.equal(newest.toReversed());
    const holders = (await linesOf("holders")).filter((row) => row["contract_address"] === gems);
    expect(holders.map((row) => [row["address"], row["quantity"], row["user_identifier"]])).to.have.deep.members([
      [alice, 3, "alice"],
      [bob, 2, "bob"],
    ]);
    expect((await linesOf("wallets")).map((row) => [row["user_identifier"], row["address"]])).to.deep.include.members([
      ["alice", alice],
      ["bob", bob],
    ]);
    const readme = await readFile(join(exported.folder, "README.md"), "utf8");
    for (const name of Object.keys(exported.export.files)) expect(readme).to.contain(name);
    expect(readme).not.to.match(/\{\w+\}/);
  });

  it("writes unlockable content in clear text when it is asked for", async () => {
    const to = join(folder.path, "open");
    await jsonOfCli<Exported>(moneta.env, "export", to, "--app", moneta.app.appId, "--unlockable");
    const [row] = (await readFile(join(to, "unlockable.ndjson"), "utf8")).split("\n");
    expect(JSON.parse(row ?? "")).to.include({ contract_address: cats, token_id: "2", unlockable_content: SECRET });
  });

  it("brings everything into another installation, whose lists, metadata and files are the same", async () => {
    // An import that is interrupted, here at a damaged file, is continued by the next one.
    const broken = join(folder.path, "broken");
    await cp(exported.folder, broken, { recursive: true });
    const { file } = (await linesOf("media")).findLast((row) => row["blocks"] === false) ?? {};
    await writeFile(join(broken, String(file)), PNG.subarray(0, 40));
    expect((await rejectionOf(importInto(broken))).message).to.contain(`${String(file)} has 40 bytes instead of`);

    const imported = await importInto(exported.folder);
    expect(imported.complete, JSON.stringify(imported)).to.equal(true);
    const sums = Object.entries(imported.added).map(([kind, added]) => [kind, added + (imported.present[kind] ?? 0)]);
    expect(Object.fromEntries(sums)).to.deep.equal({ wallets: 2, collections: 4, media: 4, tokens: 4 });
    expect(imported.present).to.include({ wallets: 2, collections: 4 });
    expect(imported.left_out.map(({ file }) => file)).to.deep.equal(["requests.ndjson", "events.ndjson"]);

    const list = async (of: ApiClient, contract: string) => {
      const { nfts } = await of.ok<{ nfts: Json[] }>("GET", `/v1/collections/${contract}`);
      return nfts.map(({ token_uri: _uri, minted_at: _at, ...nft }) => nft);
    };
    for (const contract of [cats, gems, frozen, wizards])
      expect(await list(second.api, contract)).to.have.deep.members(await list(api, contract));
    for (const path of [cats, `${cats}/1`, `${cats}/2`, `${gems}/9007199254740993`, `${frozen}/1`]) {
      const [there, here] = await Promise.all(
        [second.service.baseUrl, moneta.baseUrl].map(async (url) =>
          (await fetch(`${url}/metadata/31337/${path}`)).text(),
        ),
      );
      expect(there, path).to.equal(here);
      expect(there, path).to.contain("name");
    }
    const { collection_uri: uri } = (await linesOf("collections")).find((row) => row["address"] === frozen) ?? {};
    const { image } = (await linesOf("tokens")).find((row) => row["contract_address"] === gems)?.["metadata"] as {
      image: string;
    };
    const [split] = (await linesOf("media")).filter((row) => row["blocks"] === true && row["type"] !== null);
    const files = [String(uri), String(uri).replace("collection.json", "1"), image, `ipfs://${String(split?.["cid"])}`];
    for (const path of files) {
      const at = (url: string) => fetch(path.replace("ipfs://", `${url}/ipfs/`));
      const [there, here] = await Promise.all([at(second.service.baseUrl), at(moneta.baseUrl)]);
      expect(there.status, path).to.equal(200);
      expect(there.headers.get("Content-Type")).to.equal(here.headers.get("Content-Type"));
      expect(Buffer.from(await there.arrayBuffer()).equals(Buffer.from(await here.arrayBuffer()))).to.equal(true);
    }
    const wallet = await second.api.ok<Shape<"Wallet">>("GET", "/v1/accounts/user/bob");
    expect(wallet).to.include({ address: bob, watch_only: true });
    const { nfts } = await second.api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${bob}`);
    expect(nfts.map((nft) => [nft.contract_address, nft.unlockable_content])).to.have.deep.members([
      [cats, null],
      [cats, null],
      [gems, null],
    ]);
    const { history } = await second.api.ok<Shape<"HistoryPage">>("GET", `/v1/collections/${cats}/1/history`);
    expect(history.map(({ type }) => type)).to.deep.equal(["transfer", "mint"]);
  });

  it("adds nothing the second time", async () => {
    const { added, present } = await importInto(exported.folder);
    expect(added).to.deep.equal({ wallets: 0, collections: 0, media: 0, tokens: 0 });
    expect(present).to.deep.equal({ wallets: 2, collections: 4, media: 4, tokens: 4 });
  });

  it("gives another app of that installation nothing that is taken", async () => {
    const { appId } = await createApp(second.service, "stranger");
    const { added, left_out } = await jsonOfCli<Imported>(second.env, "import", exported.folder, "--app", appId);
    expect(added).to.include({ wallets: 0, collections: 0, tokens: 0 });
    expect(left_out.slice(0, 2).map(({ file, why, count }) => [file, why.slice(0, 23), count])).to.deep.equal([
      ["wallets.ndjson", "address_taken", 2],
      ["collections.ndjson", "Must be the address of ", 4],
    ]);
  });

  it("names media that are lost, and that do not fit", async () => {
    const [{ cid }] = (await linesOf("media")).filter((row) => row["blocks"] === false) as [{ cid: string }];
    const { appId } = await createApp(second.service, "poor");
    await second.service.database.write((trx) => setQuotas(trx, appId, { media_bytes: 1 }));
    const { left_out } = await jsonOfCli<Imported>(second.env, "import", exported.folder, "--app", appId);
    expect(left_out.find(({ file }) => file === "media.ndjson")?.why).to.contain("media_bytes");

    await new BlockFiles(join(moneta.folder, "blocks")).quarantine().add([CID.parse(cid)], Infinity);
    const to = join(folder.path, "lossy");
    const { output, failed } = await runCli(moneta.env, "export", to, "--app", moneta.app.appId, "--json");
    const { complete, export: manifest } = JSON.parse(output) as Exported;
    expect([complete, manifest.left_out.media, failed]).to.deep.equal([false, 1, true]);
    const { appId: heir } = await createApp(second.service, "heir of the rest");
    const rest = await jsonOfCli<Imported>(second.env, "import", to, "--app", heir);
    expect(rest.left_out.find(({ file }) => file === "media.ndjson")).to.include({ count: 1, example: cid });
  });

  /** A copy of the export that somebody has changed, with digests that fit. @param change gives a file its new text. */
  async function forged(name: string, change: Record<string, (text: string) => string>): Promise<string> {
    const to = join(folder.path, name);
    await cp(exported.folder, to, { recursive: true });
    const { export: manifest } = JSON.parse(await readFile(join(to, "manifest.json"), "utf8")) as Exported;
    for (const [file, edit] of Object.entries(change)) {
      const text = edit(await readFile(join(to, file), "utf8"));
      await writeFile(join(to, file), text);
      const known = manifest.files[file];
      if (known) Object.assign(known, { bytes: Buffer.byteLength(text), sha256: sha256(text) });
    }
    const sealed = { export: manifest, sha256: sha256(JSON.stringify(manifest)) };
    await writeFile(join(to, "manifest.json"), JSON.stringify(sealed));
    return to;
  }
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

  it("takes nothing from a forged folder that the service would not store itself", async () => {
    const { appId } = await createApp(second.service, "careful");
    const contract = await new WizardERC721__factory(await moneta.provider.getSigner(3)).deploy(alice, 3);
    const address = await contract.getAddress();
    const token = (id: number, metadata: object) =>
      `${JSON.stringify({ contract_address: address, token_id: id, metadata })}\n`;
    const wallet = (user: string, last: string) =>
      `${JSON.stringify({ user_identifier: user, address: `0x${last.padStart(40, "5")}` })}\n`;
    const deep = JSON.parse(`${'{"a":'.repeat(100)}1${"}".repeat(100)}`) as object;
    const from = await forged("forged", {
      "wallets.ndjson": () =>
        wallet("..", "1") + wallet("a\u001b[2J", "2") + wallet("x".repeat(257), "3") + wallet("new", "4"),
      "collections.ndjson": () => `${JSON.stringify({ address, metadata: { name: "x".repeat(70_000) } })}\n`,
      "tokens.ndjson": () => token(0, deep) + token(1, { name: "x".repeat(70_000) }) + token(2, { name: "a\0" }),
      "media.ndjson": () => "",
    });
    const { added, left_out } = await jsonOfCli<Imported>(second.env, "import", from, "--app", appId);
    expect(added).to.deep.equal({ wallets: 1, collections: 1, media: 0, tokens: 0 });
    expect(left_out.slice(0, 3).map(({ file, count }) => [file, count])).to.deep.equal([
      ["wallets.ndjson", 3],
      ["collections.ndjson", 1],
      ["tokens.ndjson", 3],
    ]);

    const refusalOf = async (name: string, change: Parameters<typeof forged>[1]) =>
      (await rejectionOf(importInto(await forged(name, change)))).message;
    const form = /wallets\.ndjson has a line of another form/;
    expect(await refusalOf("long", { "wallets.ndjson": () => "x".repeat(3_000_000) })).to.match(form);
    expect(await refusalOf("text", { "wallets.ndjson": () => "{\n" })).to.match(form);
    expect(await refusalOf("nested", { "wallets.ndjson": () => "[".repeat(900_000) })).to.match(form);
    const climbs = (text: string) => text.replaceAll(/"media\/[^"]*"/g, '"media/../../secret"');
    expect(await refusalOf("climbs", { "media.ndjson": climbs })).to.match(/media\.ndjson has a line of another form/);
    const linked = await forged("linked", {});
    await symlink("/etc", join(linked, "media", "bafy.png"));
    expect((await rejectionOf(importInto(linked))).message).to.contain("bafy.png is not a regular file");
  });

  it("refuses a folder that is not empty, is not complete, is damaged, or comes from another chain", async () => {
    const refusal = async (work: Promise<unknown>) => (await rejectionOf(work)).message;
    const exportTo = (to: string) => runCli(moneta.env, "export", to, "--app", moneta.app.appId);
    expect(await refusal(exportTo(exported.folder))).to.contain("is not empty");
    expect(await refusal(exportTo(join(moneta.folder, "inside")))).to.contain("is inside DATA_DIR");
    expect(await refusal(importInto(folder.path))).to.contain("is not an export");
    const damaged = join(folder.path, "damaged");
    await cp(exported.folder, damaged, { recursive: true });
    const tokens = join(damaged, "tokens.ndjson");
    await writeFile(tokens, (await readFile(tokens, "utf8")).replace("Secretive", "Public   "));
    expect(await refusal(importInto(damaged))).to.contain("tokens.ndjson has another SHA-256");
    const manifest = join(damaged, "manifest.json");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace('"31337"', '"1"'));
    expect(await refusal(importInto(damaged))).to.contain("is damaged");
  });

  it("exports imported wallets without their keys: watch-only elsewhere, until the keys are imported there", async () => {
    const { appId } = await createApp(moneta.service, "mover");
    const [named, nameless] = [Wallet.createRandom(), Wallet.createRandom()];
    const keys = [`mona,${named.privateKey}`, `,${nameless.privateKey}`];
    expect(await importKeys(moneta.env, appId, keys)).to.include({ added: 2 });
    const from = join(folder.path, "moved");
    await runCli(moneta.env, "export", from, "--app", appId);
    const sealed = await moneta.service.database.read.selectFrom("imported_keys").select("sealed").execute();
    const secrets = [...sealed.map((row) => row.sealed), named.privateKey.slice(2), nameless.privateKey.slice(2)];
    for (const name of await readdir(from)) {
      const content = name === "media" ? "" : await readFile(join(from, name), "utf8");
      for (const secret of secrets) expect(content, name).not.to.contain(secret);
    }
    const { appId: there } = await createApp(second.service, "mover");
    const { added, left_out } = await jsonOfCli<Imported>(second.env, "import", from, "--app", there);
    expect([added["wallets"], left_out[0]]).to.deep.equal([
      1,
      { file: "wallets.ndjson", why: "A watch-only wallet needs a user.", count: 1, example: nameless.address },
    ]);
    expect(await importKeys(second.env, there, keys)).to.include({ completed: 1, added: 1 });
  });
});
