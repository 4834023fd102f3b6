import { rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";

import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { importContent } from "../../../api/content/content.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { TrustlessGateway } from "../../support/trustless-gateway.ts";
import { useService } from "../../support/use-service.ts";

/** Media jobs of one app that the worker works on at the same time, at least. */
const JOBS_AT_ONCE = 8;
/** Milliseconds that the slow media server takes. */
const SLOW_ANSWER = 200;

describe("hosting with a failing gateway, disk or media server", () => {
  // Tests break the folder of the media, and know what is hosted.
  const moneta = useService({ per: "test", start: false });
  const { api } = moneta;
  let gateway: TrustlessGateway;
  let server: Listening;
  /** Requests to the media server without an answer. */
  let held: ServerResponse[];
  /** What the media server does with a request. */
  let answer: (response: ServerResponse) => void;

  before(async () => {
    gateway = new TrustlessGateway();
    await gateway.start();
    const slow = createServer((_request, response) => {
      held.push(response);
      answer(response);
    });
    server = await listenOnLoopback(slow);
  });
  beforeEach(async () => {
    held = [];
    answer = () => undefined;
    gateway.instead = null;
    await moneta.start({ IPFS_GATEWAY: gateway.url });
  });
  after(async () => {
    await gateway.stop();
    await server.stop();
  });

  const slowUrl = () => `${server.url}/slow.png`;
  /** A disk on which no folder can be created, so every write fails, as on a full disk. @returns makes it writable again. */
  const breakDisk = async () => {
    const blocks = join(moneta.folder, "blocks");
    await rm(blocks, { recursive: true, force: true });
    await writeFile(blocks, "");
    return () => rm(blocks);
  };
  const published = async (content: Uint8Array): Promise<CID> => {
    const source = async function* () {
      await Promise.resolve();
      yield content;
    };
    const put = (cid: CID, bytes: Uint8Array) => {
      gateway.add(cid, bytes);
      return Promise.resolve();
    };
    return (await importContent({ put }, source())).cid;
  };

  it("copies an ipfs:// image under the same CID, and serves it", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const cid = await published(Buffer.alloc(2_500_000, "GIF89a"));
    const image = `ipfs://${cid.toString()}`;
    const body = { collection_address: collection, to_address: await api.wallet(), image, copy_media: true };
    await api.completed("/v1/nfts", body);
    expect(await api.ok("GET", `/metadata/31337/${collection}/1`)).to.deep.equal({ image });
    const answer = await fetch(`${moneta.baseUrl}/ipfs/${cid.toString()}`);
    expect((await answer.arrayBuffer()).byteLength).to.equal(2_500_000);
  });

  it("fails a mint when the gateway returns other content, and says why", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const cid = await published(Buffer.from("GIF89a"));
    gateway.instead = (response) => response.end("dog");
    const failed = await api.done("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image: `ipfs://${cid.toString()}`,
      copy_media: true,
    });
    expect(failed).to.include({ status: "failed", error_code: "media_unavailable" });
    expect(failed.errors?.[0]?.message).to.contain("other bytes");
  });

  it("retries until the disk is writable again", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const repair = await breakDisk();
    const id = await api.accept("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image: slowUrl(),
      copy_media: true,
    });
    const first = await eventually(() => Promise.resolve(held[0]));
    first.end("GIF89a");
    // One try has failed. The request is still pending and nothing is lost.
    const second = await eventually(() => Promise.resolve(held[1]));
    expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending", error_code: null });
    await repair();
    second.end("GIF89a");
    expect(await api.settled(id)).to.include({ status: "completed" });
  });

  it("fetches the media of one request at a time while the disk is not writable", async () => {
    const body = { collection_address: await api.collection({ type: "ERC721" }), to_address: await api.wallet() };
    const repair = await breakDisk();
    const mint = () => api.accept("/v1/nfts", { ...body, image: slowUrl(), copy_media: true });
    const ids = await Promise.all(Array.from({ length: JOBS_AT_ONCE }, mint));
    // All of them are under way before the first one fails.
    await eventually(() => Promise.resolve(held.length === ids.length ? true : undefined));
    let [downloads, most] = [0, 0];
    // A slow server: two requests that are tried again together overlap.
    answer = (response) => {
      downloads += 1;
      most = Math.max(most, held.length);
      setTimeout(() => {
        held.splice(held.indexOf(response), 1);
        response.end("GIF89a");
      }, SLOW_ANSWER);
    };
    for (const response of held.splice(0)) response.end("GIF89a");
    await eventually(() => Promise.resolve(downloads >= 3 ? true : undefined));
    expect(most).to.equal(1);
    await repair();
    for (const id of ids) expect(await api.settled(id)).to.include({ status: "completed" });
  });

  it("includes a pending mint in a freeze, and rejects changes meanwhile", async () => {
    const address = await api.collection({ type: "ERC721" });
    const to = await api.wallet();
    await api.completed("/v1/nfts", { collection_address: address, to_address: to, name: "One" });
    const body = { collection_address: address, to_address: to, name: "Two", image: slowUrl(), copy_media: true };
    const mint = await api.accept("/v1/nfts", body);
    const response = await eventually(() => Promise.resolve(held[0]));
    const freeze = await api.accept(`/v1/collections/${address}/freeze`, {});
    for (const [method, path, change] of [
      ["PATCH", `/v1/collections/${address}/1`, { name: "changed" }],
      ["PATCH", `/v1/collections/${address}`, { description: "changed" }],
      ["POST", "/v1/nfts", { collection_address: address, to_address: to, name: "Three" }],
      ["POST", `/v1/collections/${address}/freeze`, {}],
    ] as const) {
      expect((await api.send(method, path, change)).body, path).to.include({ error_code: "metadata_frozen" });
    }
    expect(await api.ok("GET", `/v1/requests/${freeze}`)).to.include({ status: "pending" });
    response.end("GIF89a");
    for (const id of [mint, freeze]) expect(await api.settled(id)).to.include({ status: "completed" });
    const uri = await ERC721Collection__factory.connect(address, moneta.provider).tokenURI(2n);
    const frozen = await fetch(uri.replace("ipfs://", `${moneta.baseUrl}/ipfs/`));
    const metadata = (await frozen.json()) as { name: string; image: string };
    expect(metadata.name).to.equal("Two");
    const image = await fetch(metadata.image.replace("ipfs://", `${moneta.baseUrl}/ipfs/`));
    expect(await image.text()).to.equal("GIF89a");
  });

  it("freezes the other tokens when a pending mint fails", async () => {
    const address = await api.collection({ type: "ERC721" });
    const to = await api.wallet();
    await api.completed("/v1/nfts", { collection_address: address, to_address: to, name: "One" });
    const body = { collection_address: address, to_address: to, image: slowUrl(), copy_media: true };
    const mint = await api.accept("/v1/nfts", body);
    const response = await eventually(() => Promise.resolve(held[0]));
    const freeze = await api.accept(`/v1/collections/${address}/freeze`, {});
    response.writeHead(404).end();
    expect(await api.settled(mint)).to.include({ status: "failed", error_code: "media_unavailable" });
    expect(await api.settled(freeze)).to.include({ status: "completed" });
  });
});
