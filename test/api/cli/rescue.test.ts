import { readdir, readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { expect } from "chai";
import { type JsonRpcSigner, toBeHex } from "ethers";

import type { Examination } from "../../../api/checks/examine.ts";
import type { RescueResult } from "../../../api/operate/rescue/rescue.ts";
import type { Shape } from "../../../client/client.ts";
import { UriERC721__factory } from "../../../types/ethers-contracts/factories/mocks/UriERC721__factory.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { PNG } from "../../support/pictures.ts";
import { TestProcess } from "../../support/process.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { TrustlessGateway } from "../../support/trustless-gateway.ts";
import { useFolder } from "../../support/use-folder.ts";
import { useService } from "../../support/use-service.ts";
import { blockOf } from "../support/content.ts";
import { jsonOfCli, runCli } from "./support/run.ts";
import { TokenSource } from "./support/token-source.ts";

interface Line {
  token_id: string | null;
  what: string;
  problem: string;
  message: string;
}

const [HONEST, REVERTS, BURNS, MEGABYTES] = [0, 1, 2, 3];
const PUBLIC = "http://localhost:0";
/** A picture of its own. */
function gif(name: string): Buffer {
  return Buffer.from(`GIF89a${name}`);
}

describe("command line: collection rescue", () => {
  // `doctor` looks at some adopted collections only, so all of the service's are from here.
  const moneta = useService({ node: "deployed" });
  const { api } = moneta;
  const temporary = useFolder();
  const source = new TokenSource();
  let owner: JsonRpcSigner;
  let folder: string;
  let folders = 0;

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    await source.start();
  });
  after(() => source.stop());
  beforeEach(() => {
    source.files.clear();
    source.asked.length = 0;
    source.onRequest = () => undefined;
    folder = join(temporary.path, `rescued-${(++folders).toString()}`);
  });

  const json = <T>(...words: string[]) => jsonOfCli<T>(moneta.env, ...words);
  async function adopt(address: string, tokens: number): Promise<void> {
    await json("collection", "adopt", address, "--app", moneta.app.appId, "--allow", "--wait", "60");
    await eventually(async () => {
      const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`);
      return collection.minted === tokens ? true : undefined;
    });
  }
  const rescue = (address: string, ...options: string[]) =>
    json<RescueResult>("collection", "rescue", address, "--folder", folder, ...options);
  const reportOf = async (address: string) =>
    (await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`)).collection.adopted?.rescue;
  const linesOf = async <T>(name: string) =>
    (await readFile(join(folder, name), "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as T);
  const problems = async () =>
    (await linesOf<Line>("problems.ndjson"))
      .map(({ token_id: id, what, problem }) => `${id ?? "collection"} ${what} ${problem}`)
      .sort();
  const served = async (address: string, id: string) => {
    const answer = await fetch(`${moneta.baseUrl}/metadata/31337/${address}/${id}`);
    return answer.ok ? ((await answer.json()) as Record<string, unknown>) : answer.status;
  };
  const picture = async (uri: unknown) => {
    const answer = await fetch(`${moneta.baseUrl}/ipfs/${String(uri).replace("ipfs://", "")}`);
    return answer.ok ? Buffer.from(await answer.arrayBuffer()) : answer.status;
  };
  /** What is at a URI of the service, whose public address no test can reach. */
  const at = async (uri: string) => (await fetch(uri.replace(PUBLIC, moneta.baseUrl))).json() as Promise<object>;
  const doctor = async () => {
    const { findings } = await json<Examination>("doctor");
    return findings.filter(({ check }) => check === "rescued").map(({ result, words }) => [result, words] as const);
  };
  const aboutMine = async (address: string) => (await doctor()).find(([, words]) => words.includes(address));
  async function wizard(size: number): Promise<string> {
    const contract = await new WizardERC721__factory(owner).deploy(owner.address, size);
    await (await contract.setBaseURI(`${source.url}/meta/`)).wait();
    return contract.getAddress();
  }

  it("copies metadata and pictures, which are served here when their source is switched off", async () => {
    const address = await wizard(4);
    source.files.set("/0.png", PNG).set("/1.gif", gif("one")).set("/page.png", "<html><body>Log in</body></html>");
    const first = `{ "name":"Zero #{token_id}", "image":"${source.url}/0.png", "fills_uris":true, "level":12345678901234567890.0001, "odd":{"10":1,"2":[null]} }`;
    source.files.set("/meta/0", first);
    source.files.set("/meta/1", JSON.stringify({ name: 7, image: `${source.url}/1.gif`, attributes: "none" }));
    source.files.set("/meta/2", JSON.stringify({ name: "Page", image: `${source.url}/page.png` }));
    expect((await rejectionOf(rescue(address))).message).to.match(/No app has adopted/);
    await adopt(address, 4);
    expect(await served(address, "0")).to.equal(404);

    const result = await rescue(address);
    expect(result).to.include({ contract_address: address, folder, tokens: 4, served: 3 });
    expect(result.problems).to.deep.equal({ missing: 2, unusable: 0, changed: 0, too_large: 0 });
    expect(await problems()).to.deep.equal(["2 image missing", "3 metadata missing"]);
    expect(await readFile(join(folder, "metadata", "0"), "utf8")).to.equal(first);
    expect((await readdir(join(folder, "media"))).map((name) => name.split(".")[1]).sort()).to.deep.equal([
      "gif",
      "png",
    ]);
    expect(await readFile(join(folder, "report.txt"), "utf8")).to.match(/token 2: image missing: .*HTML page/);
    source.files.clear();

    const zero = await served(address, "0");
    expect(zero).to.include({ name: "Zero #{token_id}", fills_uris: true });
    expect(await picture((zero as { image: string }).image)).to.deep.equal(PNG);
    // Nothing else changes: no digit, no space, no order.
    const answer = await fetch(`${moneta.baseUrl}/metadata/31337/${address}/0`);
    expect(await answer.text()).to.equal(first.replace(`${source.url}/0.png`, (zero as { image: string }).image));
    expect(answer.headers.get("access-control-allow-origin")).to.equal("*");
    const one = (await served(address, "1")) as { name: number; image: string };
    expect(one.name).to.equal(7);
    expect(await picture(one.image)).to.deep.equal(gif("one"));
    expect(await served(address, "2")).to.include({ image: `${source.url}/page.png` });
    expect(await served(address, "3")).to.equal(404);
    const nft = await api.ok<Shape<"Erc721Nft">>("GET", `/v1/collections/${address}/1`);
    // Only fields with the types that the documentation names.
    expect(nft.metadata).to.deep.equal({ image: one.image });
    expect(nft.token_uri).to.equal(`${PUBLIC}/metadata/31337/${address}/1`);

    const { function: name, argument, data } = result.call;
    expect(await reportOf(address)).to.deep.include({ finished: true, tokens: 4, served: 3 });
    expect(await reportOf(address)).to.deep.include({ call: { function: name, argument, data } });
    expect((await reportOf(address))?.problems[0]).to.deep.equal({ problem: "missing", count: 2, token_ids: [2, 3] });

    // The owner makes the contract name this service, with the printed call.
    expect((await aboutMine(address))?.[0]).to.equal("warning");
    expect(result.call).to.include({
      ...{ function: "setBaseURI(string)", argument: `${PUBLIC}/metadata/31337/${address}/` },
      from: owner.address,
    });
    await (await owner.sendTransaction({ to: result.call.to, data: result.call.data })).wait();
    const contract = WizardERC721__factory.connect(address, owner);
    expect(await at(await contract.tokenURI(1))).to.deep.equal(one);
    expect((await aboutMine(address))?.[0]).to.equal("problem");
    expect((await aboutMine(address))?.[1]).to.include("token 3 are here, but they are not");
  });

  it("lists what changed or is gone at the source, and keeps the copy", async () => {
    const address = await wizard(3);
    for (const id of ["0", "1", "2"]) {
      source.files.set(`/${id}.gif`, gif(id));
      source.files.set(`/meta/${id}`, JSON.stringify({ name: id, image: `${source.url}/${id}.gif` }));
    }
    await adopt(address, 3);
    expect((await rescue(address)).served).to.equal(3);
    const before = [await served(address, "0"), await served(address, "1"), await served(address, "2")];
    source.files.set("/meta/0", JSON.stringify({ name: "new", image: `${source.url}/new.gif` }));
    source.files.set("/new.gif", gif("new")).set("/1.gif", gif("other"));
    source.files.delete("/meta/2");
    source.files.delete("/2.gif");
    // What is copied is not fetched again.
    source.asked.length = 0;
    expect((await rescue(address)).problems).to.include({ changed: 0, missing: 0 });
    expect(source.asked).to.deep.equal([]);
    expect((await rescue(address, "--check")).problems).to.include({ changed: 2, missing: 2 });
    expect(await problems()).to.deep.equal([
      "0 metadata changed",
      "1 image changed",
      "2 image missing",
      "2 metadata missing",
    ]);
    expect(await readFile(join(folder, "report.txt"), "utf8")).to.match(/token 2: metadata missing: .*The copy stays/);
    expect([await served(address, "0"), await served(address, "1"), await served(address, "2")]).to.deep.equal(before);

    // A new folder takes what the source has now, and loses nothing that is served.
    folder = `${folder}-new`;
    expect((await rescue(address)).problems).to.include({ changed: 0, missing: 1 });
    const [zero, one] = [await served(address, "0"), await served(address, "1")] as { name: string; image: string }[];
    expect(zero?.name).to.equal("new");
    expect(await picture(zero?.image)).to.deep.equal(gif("new"));
    expect(await picture(one?.image)).to.deep.equal(gif("other"));
    expect(await served(address, "2")).to.deep.equal(before[2]);
    // The document is still there, its picture is not.
    source.files.delete("/1.gif");
    folder = `${folder}er`;
    expect((await rescue(address)).problems).to.include({ changed: 0, missing: 2 });
    expect(await served(address, "1")).to.deep.equal(one);
  });

  it("copies an ERC1155 collection, whose URIs have the id as 64 digits", async () => {
    const contract = await new WizardERC1155__factory(owner).deploy(owner.address);
    const address = await contract.getAddress();
    await (await contract.mintBatch(owner.address, [10, 2n ** 200n], [5, 6])).wait();
    await (await contract.setURI(`${source.url}/{id}.json`)).wait();
    const hexOf = (id: bigint) => toBeHex(id, 32).slice(2);
    source.files.set(`/${hexOf(10n)}.json`, JSON.stringify({ name: "Ten", image: `${source.url}/{id}.gif` }));
    source.files.set(`/${hexOf(10n)}.gif`, gif("ten"));
    source.files.set(`/${hexOf(2n ** 200n)}.json`, '{"name":"Large","decimals":0}');
    await adopt(address, 2);
    const result = await rescue(address);
    expect(result.served).to.equal(2);
    expect(result.call.function).to.equal("setURI(string)");
    expect(result.call.argument).to.match(/\/\{id\}$/);
    // The contract names no owner, and has no name.
    expect(result.call.from).to.equal(null);
    expect((await runCli(moneta.env, "collection", "rescue", address, "--folder", folder)).output).to.contain(
      "Who administers the contract calls setURI(string)",
    );
    const ten = await served(address, hexOf(10n));
    expect(await picture((ten as { image: string }).image)).to.deep.equal(gif("ten"));
    expect(await served(address, (2n ** 200n).toString())).to.deep.equal({ name: "Large", decimals: 0 });
    expect((await aboutMine(address))?.[0]).to.equal("warning");
    await (await contract.setURI(result.call.argument)).wait();
    expect(await aboutMine(address)).to.deep.equal([
      "ok",
      `${address} says that the metadata of its tokens are here, and they are`,
    ]);
    // Adopted once, it needs no signature any more.
    const { output } = await runCli(moneta.env, "collection", "adopt", address, "--app", moneta.app.appId);
    expect(output).to.contain(`${address} is a collection of`).and.to.contain("2 tokens are stored");
  });

  /** A contract whose tokens have these URIs. @returns its address, and the ids by the names of the tokens. */
  async function uris(tokens: Record<string, [uri: string, mode: number]>) {
    const contract = await new UriERC721__factory(owner).deploy();
    for (const [uri, mode] of Object.values(tokens)) await (await contract.mint(uri, mode)).wait();
    const ids = new Map(Object.keys(tokens).map((name, index) => [name, index.toString()]));
    const address = await contract.getAddress();
    return { contract, address, idOf: (name: string) => ids.get(name) ?? "", names: [...ids.keys()] };
  }

  function answerWithoutEnd(response: ServerResponse): void {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
    };
    response.on("drain", more).writeHead(200);
    more();
  }

  it("loses only the tokens whose contract or server is hostile", async () => {
    const { address, idOf, names } = await uris({
      reverts: ["", REVERTS],
      burns: ["", BURNS],
      megabytes: ["", MEGABYTES],
      file: ["file:///etc/passwd", HONEST],
      inside: ["http://10.0.0.1/secret", HONEST],
      redirect: [`${source.url}/redirect`, HONEST],
      bomb: [`${source.url}/bomb`, HONEST],
      endless: [`${source.url}/endless`, HONEST],
      deep: [`${source.url}/deep`, HONEST],
      keys: [`${source.url}/keys`, HONEST],
      list: [`${source.url}/list`, HONEST],
      last: [`${source.url}/last`, HONEST],
    });
    source.files.set("/redirect", (response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end());
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    source.files.set("/bomb", (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    source.files.set("/endless", answerWithoutEnd);
    source.files.set("/deep", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    source.files.set("/keys", `{${Array.from({ length: 80_000 }, (_, key) => `"k${key.toString()}":1`).join(",")}}`);
    source.files.set("/list", "[]").set("/last", '{"name":"Last"}');
    await adopt(address, 12);
    expect(await rescue(address, "--largest", "2000000")).to.include({ tokens: 12, served: 1 });
    const found = await linesOf<Line>("problems.ndjson");
    const kinds = found.map(({ token_id: id, problem }) => [names[Number(id)], problem]);
    expect(Object.fromEntries(kinds)).to.deep.equal({
      ...{ reverts: "missing", burns: "missing", megabytes: "missing", file: "missing", inside: "missing" },
      ...{ redirect: "missing", bomb: "missing", endless: "missing" },
      ...{ deep: "unusable", keys: "too_large", list: "unusable" },
    });
    expect(found.find(({ token_id: id }) => id === idOf("redirect"))?.message).to.match(/not public/);
    expect(await served(address, idOf("last"))).to.deep.equal({ name: "Last" });
    expect(await served(address, idOf("keys"))).to.equal(404);
    // Too large to be served: the folder has it.
    expect((await readFile(join(folder, "metadata", idOf("keys")))).length).to.be.greaterThan(500_000);
    expect(await readdir(join(folder, "metadata"))).to.not.include(idOf("endless"));
  });

  it("asks IPFS gateways in turn and believes none of them, reads data: URIs, and copies what the contract says of itself", async () => {
    const [lying, gateway] = [new TrustlessGateway(), new TrustlessGateway()];
    await Promise.all([lying.start(), gateway.start()]);
    const image = await blockOf("GIF89aipfs");
    const named = await blockOf(`{"name":"IPFS","image":"ipfs://${image.cid.toString()}"}`);
    for (const { cid, bytes } of [image, named]) gateway.add(cid, bytes);
    lying.add(named.cid, Buffer.from('{"name":"Other"}'));
    const inside = `data:image/gif;base64,${gif("data").toString("base64")}`;
    const { contract, address, idOf } = await uris({
      data: [`data:application/json;utf8,{"name":"#1","image":"${inside}"}`, HONEST],
      ipfs: [`ipfs://${named.cid.toString()}`, HONEST],
    });
    await (await contract.setContractURI(`${source.url}/contract`)).wait();
    const mine = `{ "name":"Mine", "image":"c.gif", "extra":{"2":[1.0],"1":12345678901234567890} }`;
    source.files.set("/contract", mine);
    source.files.set("/c.gif", gif("contract"));
    await adopt(address, 2);
    const result = await rescue(address, "--gateway", lying.url, "--gateway", gateway.url);
    await Promise.all([gateway.stop(), lying.stop()]);

    expect(await problems()).to.deep.equal([]);
    expect(result).to.include({ tokens: 2, served: 2 });
    const data = (await served(address, idOf("data"))) as { name: string; image: string };
    expect(data.name).to.equal("#1");
    expect(await picture(data.image)).to.deep.equal(gif("data"));
    const uri = `ipfs://${image.cid.toString()}`;
    expect(await served(address, idOf("ipfs"))).to.deep.equal({ name: "IPFS", image: uri });
    expect(await picture(uri)).to.deep.equal(Buffer.from(image.bytes));
    const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${address}`);
    expect(collection.collection_uri).to.equal(`${PUBLIC}/metadata/31337/${address}`);
    const own = await (await fetch((collection.collection_uri ?? "").replace(PUBLIC, moneta.baseUrl))).text();
    const [, copied = ""] = /"(ipfs:[^"]*)"/.exec(own) ?? [];
    expect(own).to.equal(mine.replace("c.gif", copied));
    expect(await picture(copied)).to.deep.equal(gif("contract"));
  });

  it("finds files beside their document, and those of Arweave through a gateway", async () => {
    const { address, idOf } = await uris({
      beside: [`${source.url}/meta/beside.json`, HONEST],
      above: [`${source.url}/meta/above.json`, HONEST],
      weave: ["ar://documents/weave", HONEST],
      inside: ['data:,{"image":"nowhere.gif"}', HONEST],
    });
    source.files.set("/meta/beside.json", '{"image":"./pictures/1 a.gif"}').set("/meta/pictures/1%20a.gif", gif("1"));
    source.files.set("/meta/above.json", '{"image":"/2.gif"}').set("/weave/documents/weave", '{"image":"ar://3"}');
    source.files.set("/weave/3", gif("3"));
    await adopt(address, 4);
    const weave = ["--arweave", `${source.url}/weave/`];
    expect(await rescue(address, ...weave)).to.include({ tokens: 4, served: 4 });
    expect(await problems()).to.deep.equal([`${idOf("above")} image missing`, `${idOf("inside")} image missing`]);
    // The document is not fetched again, but its place is still known.
    source.files.set("/2.gif", gif("2"));
    source.asked.length = 0;
    await rescue(address, ...weave);
    expect(source.asked).to.deep.equal(["/2.gif"]);
    for (const [name, content] of [
      ["beside", "1"],
      ["above", "2"],
      ["weave", "3"],
    ] as const)
      expect(await picture(((await served(address, idOf(name))) as { image: string }).image)).to.deep.equal(
        gif(content),
      );
    expect(await served(address, idOf("inside"))).to.deep.equal({ image: "nowhere.gif" });
  });

  it("keeps what is above the quota of the app as files only", async () => {
    const address = await wizard(1);
    source.files.set("/0.gif", gif("x".repeat(500)));
    source.files.set("/meta/0", JSON.stringify({ name: "0", image: `${source.url}/0.gif` }));
    await adopt(address, 1);
    await runCli(moneta.env, "app", "quota", moneta.app.appId, "--media-bytes", "100");
    try {
      expect((await rescue(address)).problems).to.include({ too_large: 1, missing: 0 });
    } finally {
      await runCli(moneta.env, "app", "quota", moneta.app.appId, "--media-bytes", "none");
    }
    expect(await served(address, "0")).to.include({ image: `${source.url}/0.gif` });
    const [kept = ""] = await readdir(join(folder, "media"));
    expect(await readFile(join(folder, "media", kept))).to.deep.equal(gif("x".repeat(500)));
    expect((await rescue(address)).problems).to.include({ too_large: 0, missing: 0 });
    expect(await picture(((await served(address, "0")) as { image: string }).image)).to.have.lengthOf(506);
  });

  it("goes on after a kill with what it does not have", async () => {
    const [size, kill] = [200, 150];
    const address = await wizard(size);
    for (let id = 0; id < size; id++) {
      source.files.set(`/${id.toString()}.gif`, gif(id.toString()));
      const document = { name: id.toString(), image: `${source.url}/${id.toString()}.gif` };
      source.files.set(`/meta/${id.toString()}`, JSON.stringify(document));
    }
    await adopt(address, size);
    const words = ["api/cli/main.ts", "collection", "rescue", address, "--folder", folder];
    const killed = new TestProcess(words, moneta.env);
    source.onRequest = (path) => {
      if (path === `/meta/${kill.toString()}`) void killed.end("SIGKILL");
    };
    await killed.gone();
    // As of a file that it was writing.
    await writeFile(join(folder, "9999.part"), "half of a fi");
    source.onRequest = () => undefined;
    source.asked.length = 0;
    expect(await reportOf(address)).to.deep.include({ finished: false, tokens: 128, served: 128 });
    expect(await rescue(address)).to.deep.include({ tokens: size, served: size });
    // Nothing of the pages that were stored is fetched again.
    const again = source.asked.filter((path) => path.startsWith("/meta/")).map((path) => Number(path.slice(6)));
    expect(Math.min(...again)).to.be.at.least(128);
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).to.deep.equal([]);
    const lines = await linesOf<{ token_id: string; media: Record<string, string> }>("tokens.ndjson");
    expect(lines.map(({ token_id: id }) => id)).to.deep.equal(Array.from({ length: size }, (_, id) => id.toString()));
    for (const { token_id: id, media } of lines)
      expect(await readFile(join(folder, media["image"] ?? ""))).to.deep.equal(gif(id));
    expect(await picture(((await served(address, "199")) as { image: string }).image)).to.deep.equal(gif("199"));
  });

  it("runs once at a time for a contract, also after a kill", async () => {
    const address = await wizard(1);
    source.files.set("/meta/0", "{}");
    await adopt(address, 1);
    const words = ["api/cli/main.ts", "collection", "rescue", address, "--folder", folder];
    const first = new TestProcess(words, moneta.env);
    const asked = Promise.withResolvers<undefined>();
    // The first one waits for its source.
    source.files.set("/meta/0", () => {
      asked.resolve(undefined);
    });
    await asked.promise;
    expect((await rejectionOf(rescue(address))).message).to.match(/Another process rescues/);
    void first.end("SIGKILL");
    await first.gone();
    source.files.set("/meta/0", "{}");
    expect(await rescue(address)).to.include({ tokens: 1, served: 1 });
  });

  it("takes no folder of other files or of another contract", async () => {
    const [address, other] = [await wizard(1), await wizard(1)];
    await adopt(address, 1);
    await adopt(other, 1);
    await rescue(address);
    expect((await rejectionOf(rescue(other))).message).to.match(/those of another contract/);
    folder = temporary.path;
    expect((await rejectionOf(rescue(other))).message).to.match(/has other files/);
  });
});
