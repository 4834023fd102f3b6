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
  // A test breaks the folder of the media.
  const moneta = useService({ start: false });
  const { api } = moneta;
  const gateway = new TrustlessGateway();
  let server: Listening;
  let collection_address: string;
  let to_address: string;
  /** Requests to the media server without an answer. */
  const held: ServerResponse[] = [];
  /** What the media server does with a request. */
  let answer: (response: ServerResponse) => void = () => undefined;

  before(async () => {
    await gateway.start();
    server = await listenOnLoopback(
      createServer((_request, response) => {
        held.push(response);
        answer(response);
      }),
    );
    await moneta.start({ IPFS_GATEWAY: gateway.url });
    to_address = await api.wallet();
  });
  beforeEach(async () => {
    collection_address = await api.collection({ type: "ERC721" });
  });
  after(async () => {
    await gateway.stop();
    await server.stop();
  });

  const mint = (image: string, fields: object = {}) =>
    api.accept("/v1/nfts", { collection_address, to_address, image, copy_media: true, ...fields });
  const mintSlow = (fields?: object) => mint(`${server.url}/slow.png`, fields);
  const asked = (count: number) => eventually(() => Promise.resolve(held.length >= count ? held.splice(0) : undefined));
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
  const fetchIpfs = (uri: string) => fetch(uri.replace("ipfs://", `${moneta.baseUrl}/ipfs/`));

  it("copies an ipfs:// image under the same CID, and fails a mint when the gateway returns other content", async () => {
    const image = `ipfs://${(await published(Buffer.alloc(2_500_000, "GIF89a"))).toString()}`;
    expect(await api.settled(await mint(image))).to.include({ status: "completed" });
    expect(await api.ok("GET", `/metadata/31337/${collection_address}/1`)).to.deep.equal({ image });
    expect((await (await fetchIpfs(image)).arrayBuffer()).byteLength).to.equal(2_500_000);

    const other = await published(Buffer.from("GIF89a"));
    gateway.instead = (response) => response.end("dog");
    const failed = await api.settled(await mint(`ipfs://${other.toString()}`));
    expect(failed).to.include({ status: "failed", error_code: "media_unavailable" });
    expect(failed.errors?.[0]?.message).to.contain("other bytes");
  });

  it("retries until the disk is writable again, and fetches the media of one request at a time meanwhile", async () => {
    // A disk on which no folder can be created, so every write fails, as on a full disk.
    const blocks = join(moneta.folder, "blocks");
    await rm(blocks, { recursive: true, force: true });
    await writeFile(blocks, "");
    const ids = await Promise.all(Array.from({ length: JOBS_AT_ONCE }, () => mintSlow()));
    // All of them are under way before the first one fails.
    const first = await asked(ids.length);
    let [downloads, open, most] = [0, 0, 0];
    // A slow server: two requests that are tried again together overlap.
    answer = (response) => {
      downloads += 1;
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.end("GIF89a");
      }, SLOW_ANSWER);
    };
    for (const response of first) response.end("GIF89a");
    await eventually(() => Promise.resolve(downloads >= 3 ? true : undefined));
    expect(most).to.equal(1);
    // Tries have failed. The requests are still pending and nothing is lost.
    for (const id of ids)
      expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending", error_code: null });
    await rm(blocks);
    for (const id of ids) expect(await api.settled(id)).to.include({ status: "completed" });
    answer = () => undefined;
    held.length = 0;
  });

  it("includes a pending mint in a freeze, rejects changes meanwhile, and goes on without one that fails", async () => {
    const path = `/v1/collections/${collection_address}`;
    await api.mint(collection_address, to_address, { name: "One" });
    const good = await mintSlow({ name: "Two" });
    const [first] = await asked(1);
    const bad = await mintSlow({ name: "Three" });
    const [second] = await asked(1);
    const freeze = await api.accept(`${path}/freeze`, {});
    for (const [method, at, change] of [
      ["PATCH", `${path}/1`, { name: "changed" }],
      ["PATCH", path, { description: "changed" }],
      ["POST", "/v1/nfts", { collection_address, to_address, name: "Four" }],
      ["POST", `${path}/freeze`, {}],
    ] as const) {
      expect(await api.refusal(method, at, change), at).to.equal("422 metadata_frozen");
    }
    second?.writeHead(404).end();
    expect(await api.settled(bad)).to.include({ status: "failed", error_code: "media_unavailable" });
    expect(await api.ok("GET", `/v1/requests/${freeze}`)).to.include({ status: "pending" });
    first?.end("GIF89a");
    for (const id of [good, freeze]) expect(await api.settled(id)).to.include({ status: "completed" });
    const uri = await ERC721Collection__factory.connect(collection_address, moneta.provider).tokenURI(2n);
    const metadata = (await (await fetchIpfs(uri)).json()) as { name: string; image: string };
    expect(metadata.name).to.equal("Two");
    expect(await (await fetchIpfs(metadata.image)).text()).to.equal("GIF89a");
  });
});
