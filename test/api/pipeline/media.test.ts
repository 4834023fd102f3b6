import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { expect } from "chai";

import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { PNG } from "../../support/pictures.ts";
import { startTestService } from "../../support/service.ts";
import { useService } from "../../support/use-service.ts";

describe("media on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  let server: Listening;
  let base: string;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  const asked: string[] = [];

  before(async () => {
    const answer = createServer((request, response) => {
      asked.push(request.url ?? "");
      respond(request, response);
    });
    server = await listenOnLoopback(answer);
    base = server.url;
  });
  beforeEach(() => {
    asked.length = 0;
    respond = (_request, response) => response.end(PNG);
  });
  after(() => server.stop());

  const fetchIpfs = (uri: string) => fetch(uri.replace("ipfs://", `${moneta.baseUrl}/ipfs/`));
  const metadataOf = (collection: string, id: unknown) =>
    api.ok<{ image: string; animation_url: string }>("GET", `/metadata/31337/${collection}/${String(id)}`);
  /** A media server that does not answer. @returns the requests to it. */
  const hanging = () => {
    const held: ServerResponse[] = [];
    respond = (_request, response) => held.push(response);
    return held;
  };

  it("are copied before the token is minted, and hosted", async () => {
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    const fields = { collection_address: collection, to_address: to, copy_media: true };
    const held = hanging();
    const svg = { animation_url: "data:image/svg+xml,<svg/>" };
    const id = await api.accept("/v1/nfts", { ...fields, image: `${base}/cat.png`, ...svg });
    const response = await eventually(() => Promise.resolve(held[0]));
    // Another mint completes in the meantime, so only the media delays this one.
    await api.mint(collection, to);
    expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending", transaction_hash: null });
    response.end(PNG);
    expect(await api.settled(id)).to.include({ status: "completed", nft_token_id: 2 });

    const metadata = await metadataOf(collection, 2);
    for (const [uri, type, bytes] of [
      [metadata.image, "image/png", PNG],
      [metadata.animation_url, "image/svg+xml", Buffer.from("<svg/>")],
    ] as const) {
      const answer = await fetchIpfs(uri);
      expect([answer.status, answer.headers.get("content-type")]).to.deep.equal([200, type]);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).to.equal(true);
    }
    // Hosted content can be named again. It is not fetched a second time.
    asked.length = 0;
    const again = await api.completed("/v1/nfts", { ...fields, image: metadata.image });
    expect(await metadataOf(collection, again.nft_token_id)).to.deep.equal({ image: metadata.image });
    expect(asked).to.deep.equal([]);
  });

  it("keep the address of an upload, with and without copy_media", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
    const headers = { authorization: `Bearer ${moneta.app.token}`, "content-type": "image/svg+xml" };
    const response = await fetch(`${moneta.baseUrl}/v1/media`, { method: "POST", headers, body: svg });
    expect(response.status).to.equal(200);
    const { uri } = (await response.json()) as { uri: string };
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    for (const copy_media of [false, true]) {
      const { nft_token_id: id } = await api.mint(collection, to, { image: uri, copy_media });
      expect(await metadataOf(collection, id)).to.include({ image: uri });
    }
    expect(await (await fetchIpfs(uri)).text()).to.equal(svg);
  });

  it("fail the mint with an error code when they cannot be fetched, and nothing is minted", async () => {
    const collection = await api.collection({ type: "ERC721", mint_supply_count: 1 });
    const body = { collection_address: collection, to_address: await api.wallet(), copy_media: true };
    respond = (request, response) => {
      if (request.url === "/large") response.writeHead(200, { "content-length": "104857601" }).flushHeaders();
      else if (request.url === "/inside") response.writeHead(302, { location: "http://169.254.169.254/" }).end();
      else response.writeHead(404).end();
    };
    let failure = "";
    for (const [path, code] of [
      ["/missing", "media_unavailable"],
      ["/large", "media_too_large"],
      ["/inside", "media_blocked"],
    ] as const) {
      const failed = await api.done("/v1/nfts", { ...body, image: base + path });
      expect(failed).to.include({ status: "failed", error_code: code, transaction_hash: null, nft_token_id: null });
      expect(failed.errors?.[0]).to.include({ field: "image", code });
      failure = failed.request_id;
    }
    // The supply reservation was released, and the first id is not used yet. Sent again, the request copies the media.
    respond = (_request, response) => response.end(PNG);
    const retry = `/v1/requests/${failure}/retry`;
    const { request_id: again } = await api.ok<{ request_id: string }>("POST", retry);
    expect(await api.settled(again)).to.include({ status: "completed", nft_token_id: 1, retry_of: failure });
    expect(asked.at(-1)).to.equal("/inside");
    expect((await metadataOf(collection, 1)).image).to.match(/^ipfs:/);
    expect(await api.ok("POST", retry)).to.deep.equal({ request_id: again });
  });

  it("of a new ERC1155 id are at its id in place of {token_id}, and are retried after temporary errors", async () => {
    const collection = await api.collection({ type: "ERC1155" });
    const answers = [503, 429, 200];
    respond = (_request, response) => {
      const status = answers.shift() ?? 500;
      response.writeHead(status).end(status === 200 ? PNG : "");
    };
    const urls = { image: `${base}/{token_id}.png`, external_url: "https://gems.example/{token_id}" };
    await api.create(collection, await api.wallet(), 5, 2, { ...urls, copy_media: true });
    expect(asked).to.deep.equal(Array(3).fill("/5.png"));
    const metadata = await metadataOf(collection, 5);
    expect(metadata.image).to.match(/^ipfs:\/\/bafkrei/);
    expect(metadata).to.deep.equal({ image: metadata.image, external_url: "https://gems.example/5" });
  });

  it("are fetched once, also with several processes", async () => {
    const env = { DATABASE_URL: moneta.databaseUrl, ROLES: "media" };
    const other = await startTestService({ rpcUrl: moneta.node.url, dataDir: moneta.folder, env });
    try {
      const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      const paths = Array.from({ length: 20 }, (_, index) => `/${index.toString()}`);
      await Promise.all(paths.map((path) => api.mint(collection, to, { image: base + path, copy_media: true })));
      expect([...asked].sort()).to.deep.equal(paths.sort());
    } finally {
      await other.stop();
    }
  });

  describe("given servers that hang", () => {
    // It is stopped. Longer than the tests take: no download may end by itself.
    const own = useService({ limits: { mediaSeconds: 600 } });
    async function mintFrom(app: ApiClient, image: string, count: number): Promise<string[]> {
      const collection = await app.collection({ type: "ERC721" });
      const fields = { collection_address: collection, to_address: await app.wallet(), image, copy_media: true };
      return Promise.all(Array.from({ length: count }, () => app.accept("/v1/nfts", fields)));
    }

    it("are copied by the next process when the service stops meanwhile", async () => {
      const held = hanging();
      const [id = ""] = await mintFrom(own.api, `${base}/slow.png`, 1);
      await eventually(() => Promise.resolve(held[0]));
      await own.stop();
      respond = (_request, response) => response.end(PNG);
      await own.start();
      expect(await own.api.settled(id)).to.include({ status: "completed", nft_token_id: 1 });
    });

    it("do not wait for those of other apps", async () => {
      const held = hanging();
      const hostile = ["hostile 1", "hostile 2", "hostile 3", "hostile 4"];
      for (const name of hostile) await mintFrom(await own.createApp(name), `${base}/cat.png`, 30);
      // The hostile apps have all places that they can get: 10 of the first, at least one of each.
      await eventually(() => Promise.resolve(held.length >= 10 + hostile.length - 1 ? true : undefined));
      const [id = ""] = await mintFrom(own.api, "data:image/svg+xml,<svg/>", 1);
      expect(await own.api.settled(id)).to.include({ status: "completed" });
      // None of the hostile downloads has ended, so the mint did not wait for one of them.
      expect(held.every((response) => !response.destroyed)).to.equal(true);
      expect(held.length).to.be.at.most(20);
    });
  });
});
