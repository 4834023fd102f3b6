import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { createApp } from "../../../api/operator/create-app.ts";
import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { importContent } from "../../../api/ipfs/content.ts";
import { freePort } from "../../../scripts/nodes/free-port.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { ipfsPackagesAreInstalled } from "../../support/ipfs-packages.ts";
import type { IpfsPeer } from "../../support/ipfs-peer.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { TestProcess } from "../../support/process.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startTestService } from "../../support/service.ts";

const ENV = { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" };

describe("the service's own IPFS node", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: Server;
  let source: string;
  let bytes: Buffer;
  let peers: IpfsPeer[];
  let startPeer: typeof IpfsPeer.start;

  before(async function () {
    // Without the optional packages there is no such node, and nobody to ask it.
    if (!ipfsPackagesAreInstalled()) this.skip();
    const support = await import("../../support/ipfs-peer.ts");
    startPeer = async (...options) => {
      const peer = await support.IpfsPeer.start(...options);
      peers.push(peer);
      return peer;
    };
    server = createServer((_request, response) => response.end(bytes));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    source = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}/cat`;
    node = await startNode();
  });
  after(async () => {
    if (!ipfsPackagesAreInstalled()) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await node.stop();
  });
  beforeEach(async () => {
    peers = [];
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    for (const peer of peers) await peer.stop();
    await folder.remove();
  });

  const start = (env: Record<string, string> = ENV) =>
    startTestService({ rpcUrl: node.url, dataDir: folder.path, env });
  const asApp = async (service: Awaited<ReturnType<typeof start>>) =>
    ApiClient.at(service.baseUrl, (await createApp(service, "ipfs")).token);
  const fileOf = (content: Uint8Array) =>
    (async function* () {
      await Promise.resolve();
      yield content;
    })();
  /** Mints with media that are copied. @returns the picture's CID. */
  const mint = async (api: ApiClient, collection: string, image: string): Promise<CID> => {
    const { nft_token_id: id } = await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image,
      copy_media: true,
    });
    const metadata = await api.ok<{ image: string }>("GET", `/metadata/31337/${collection}/${String(id)}`);
    return CID.parse(metadata.image.replace("ipfs://", ""));
  };
  const announced = (peer: IpfsPeer, cid: CID, by: string) =>
    eventually(async () => ((await peer.providers(cid)).includes(by) ? true : undefined));

  it("serves hosted content to other nodes, and announces it", async () => {
    const service = await start();
    try {
      const { addresses, peerId } = service.ipfsNode!;
      const api = await asApp(service);
      const collection = await api.collection({ type: "ERC721" });
      const peer = await startPeer();
      await peer.connect(addresses);
      // One of several blocks, one of a single one, and a directory.
      bytes = randomBytes(5_000_000);
      const large = await mint(api, collection, source);
      const small = await mint(api, collection, "data:,cat");
      await api.completed(`/v1/collections/${collection}/freeze`, {});
      const token = await api.ok<{ token_uri: string }>("GET", `/v1/collections/${collection}/1`);
      const directory = CID.parse(token.token_uri.split("/")[2]!);

      expect((await peer.file(large.toString())).equals(bytes)).to.equal(true);
      expect((await peer.file(small.toString())).toString()).to.equal("cat");
      expect(JSON.parse((await peer.file(`${directory.toString()}/1`)).toString())).to.deep.equal({
        image: `ipfs://${large.toString()}`,
      });
      for (const cid of [large, small, directory]) await announced(peer, cid, peerId);
    } finally {
      await service.stop();
    }
  });

  it("serves only hosted content, and fetches nothing else", async () => {
    const content = randomBytes(1_000);
    const cid = CID.createV1(raw.code, await sha256.digest(content));
    const service = await start();
    try {
      const stranger = await startPeer("client", new Map([[cid.toString(), content]]));
      const directory = await startPeer();
      const asking = await startPeer();
      await directory.connect(stranger.addresses);
      await directory.connect(service.ipfsNode!.addresses);
      await asking.connect(service.ipfsNode!.addresses);
      await stranger.provide(cid);
      // Whoever looked for it would find it.
      await announced(directory, cid, stranger.peerId);
      const api = await asApp(service);
      const hosted = await mint(api, await api.collection({ type: "ERC721" }), "data:,cat");

      const given = new AbortController();
      const inVain = asking.block(cid, given.signal).then(
        () => "given",
        () => "in vain",
      );
      // Asked for later, so that the answer to both is there when this one is.
      expect(Buffer.from(await asking.block(hosted)).toString()).to.equal("cat");
      given.abort();
      expect(await inVain).to.equal("in vain");
      expect((await fetch(`${service.baseUrl}/ipfs/${cid.toString()}`)).status).to.equal(404);
      expect(stranger.connectedTo).to.deep.equal([directory.peerId]);
      expect(await new BlockFiles(join(folder.path, "blocks")).has(cid)).to.equal(false);
    } finally {
      await service.stop();
    }
  });

  it("streams a file larger than its memory limit", async () => {
    const content = randomBytes(40 * 2 ** 20);
    const { cid } = await importContent(new BlockFiles(join(folder.path, "blocks")), fileOf(content));
    const service = await start();
    try {
      const peer = await startPeer();
      await peer.connect(service.ipfsNode!.addresses);
      expect((await peer.file(cid.toString())).equals(content)).to.equal(true);
    } finally {
      await service.stop();
    }
  });

  it("announces what was hosted before, and is the same peer after a restart", async () => {
    let service = await start({});
    expect(service.ipfsNode).to.equal(null);
    const api = await asApp(service);
    const cid = await mint(api, await api.collection({ type: "ERC721" }), "data:,cat");
    await service.stop();

    service = await start();
    const { peerId, addresses } = service.ipfsNode!;
    const peer = await startPeer();
    await peer.connect(addresses);
    await announced(peer, cid, peerId).finally(() => service.stop());

    service = await start();
    await service.stop();
    expect(service.ipfsNode!.peerId).to.equal(peerId);
  });

  it("runs only in a process with the media role", async () => {
    const service = await start({ ...ENV, ROLES: "api" });
    await service.stop();
    expect(service.ipfsNode).to.equal(null);
  });

  describe("as a process", () => {
    const run = async (env: Record<string, string>) => {
      const settings = { PORT: (await freePort()).toString(), RPC_URL: node.url, DATA_DIR: folder.path, ...env };
      return new TestProcess(["--import", "tsx", "api/main.ts"], settings);
    };
    it("says who it is and where, keeps its key to itself, and ends cleanly", async () => {
      const process = await run(ENV);
      await process.printed(/"peerId":"12D3Koo\w+","addresses":\["\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/12D3Koo\w+"\]/);
      await process.printed(/"msg":"serving"/);
      expect(await process.end("SIGTERM")).to.equal(0);
      const file = join(folder.path, "ipfs-node.key");
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect(process.output).to.not.contain((await readFile(file, "utf8")).trim());
    });

    it("says what is wrong when its address is taken", async () => {
      const port = (server.address() as AddressInfo).port.toString();
      const process = await run({ ...ENV, IPFS_LISTEN: `/ip4/127.0.0.1/tcp/${port}` });
      expect(await process.gone()).to.equal(1);
      expect(process.output).to.contain("Set IPFS_LISTEN to addresses that are free");
      expect(process.output).to.contain("EADDRINUSE");
    });
  });
});
