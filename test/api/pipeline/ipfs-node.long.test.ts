import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { sha256 } from "multiformats/hashes/sha2";

import { BlockFiles } from "../../../api/content/block-files.ts";
import { importContent } from "../../../api/content/content.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { eventually } from "../../support/eventually.ts";
import { ipfsPackagesAreInstalled } from "../../support/ipfs-packages.ts";
import type { IpfsPeer } from "../../support/ipfs-peer.ts";
import { PNG } from "../../support/pictures.ts";
import { mintImage } from "../../support/mint-image.ts";
import { useService } from "../../support/use-service.ts";

const ENV = { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" };

describe("the service's own IPFS node", () => {
  let server: Listening | undefined;
  let bytes: Buffer;
  let peers: IpfsPeer[];
  let startPeer: typeof IpfsPeer.start;

  before("skip without the optional packages", function () {
    if (!ipfsPackagesAreInstalled()) this.skip();
  });
  // Each test starts an IPFS node that has hosted nothing yet.
  const moneta = useService({ per: "test", start: false });
  const { api } = moneta;
  before(async () => {
    const support = await import("../../support/ipfs-peer.ts");
    startPeer = async (...options) => {
      const peer = await support.IpfsPeer.start(...options);
      peers.push(peer);
      return peer;
    };
    server = await listenOnLoopback(createServer((_request, response) => response.end(bytes)));
  });
  // Absent when the tests were skipped.
  after(() => server?.stop());
  beforeEach(() => {
    peers = [];
  });
  afterEach(async () => {
    for (const peer of peers) await peer.stop();
  });

  const fileOf = (content: Uint8Array) =>
    (async function* () {
      await Promise.resolve();
      yield content;
    })();
  const mint = async (collection: string, image: string) => CID.parse(await mintImage(api, collection, image));
  const announced = (peer: IpfsPeer, cid: CID, by: string) =>
    eventually(async () => ((await peer.providers(cid)).includes(by) ? true : undefined));

  it("serves hosted content to other nodes, and announces it", async () => {
    await moneta.start(ENV);
    const { addresses, peerId } = moneta.service.ipfsNode!;
    const collection = await api.collection({ type: "ERC721" });
    const peer = await startPeer();
    await peer.connect(addresses);
    // A file of several blocks, a file of one block, and a directory.
    bytes = Buffer.concat([PNG, randomBytes(5_000_000)]);
    const large = await mint(collection, server!.url);
    const small = await mint(collection, "data:,GIF89a");
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    const token = await api.ok<{ token_uri: string }>("GET", `/v1/collections/${collection}/1`);
    const directory = CID.parse(token.token_uri.split("/")[2]!);

    expect((await peer.file(large.toString())).equals(bytes)).to.equal(true);
    expect((await peer.file(small.toString())).toString()).to.equal("GIF89a");
    expect(JSON.parse((await peer.file(`${directory.toString()}/1`)).toString())).to.deep.equal({
      image: `ipfs://${large.toString()}`,
    });
    for (const cid of [large, small, directory]) await announced(peer, cid, peerId);
  });

  it("serves only hosted content, and fetches nothing else", async () => {
    const content = randomBytes(1_000);
    const cid = CID.createV1(raw.code, await sha256.digest(content));
    await moneta.start(ENV);
    const stranger = await startPeer("client", new Map([[cid.toString(), content]]));
    const directory = await startPeer();
    const asking = await startPeer();
    await directory.connect(stranger.addresses);
    await directory.connect(moneta.service.ipfsNode!.addresses);
    await asking.connect(moneta.service.ipfsNode!.addresses);
    await stranger.provide(cid);
    // The announcement has arrived, so a peer that searches for the content would find it.
    await announced(directory, cid, stranger.peerId);
    const hosted = await mint(await api.collection({ type: "ERC721" }), "data:,GIF89a");

    const given = new AbortController();
    const answer = asking.block(cid, given.signal).then(
      () => "given",
      () => "aborted",
    );
    // Requested later, so the earlier request has been handled when this answer arrives.
    expect(Buffer.from(await asking.block(hosted)).toString()).to.equal("GIF89a");
    given.abort();
    expect(await answer).to.equal("aborted");
    expect((await fetch(`${moneta.baseUrl}/ipfs/${cid.toString()}`)).status).to.equal(404);
    expect(stranger.connectedTo).to.deep.equal([directory.peerId]);
    expect(await new BlockFiles(join(moneta.folder, "blocks")).has(cid)).to.equal(false);
  });

  it("streams a file larger than its memory limit", async () => {
    const content = randomBytes(40 * 2 ** 20);
    const { cid } = await importContent(new BlockFiles(join(moneta.folder, "blocks")), fileOf(content));
    await moneta.start({ ...ENV, MEDIA_STORE: "files" });
    const peer = await startPeer();
    await peer.connect(moneta.service.ipfsNode!.addresses);
    expect((await peer.file(cid.toString())).equals(content)).to.equal(true);
  });

  it("announces what was hosted before, and is the same peer after a restart", async () => {
    await moneta.start();
    expect(moneta.service.ipfsNode).to.equal(null);
    const cid = await mint(await api.collection({ type: "ERC721" }), "data:,GIF89a");
    await moneta.restart(ENV);
    const { peerId, addresses } = moneta.service.ipfsNode!;
    const peer = await startPeer();
    await peer.connect(addresses);
    await announced(peer, cid, peerId);

    await moneta.restart(ENV);
    expect(moneta.service.ipfsNode!.peerId).to.equal(peerId);
  });

  it("serves and announces content from a process that holds no key, and runs only with the role ipfs", async () => {
    await moneta.start({ ...ENV, ROLES: "api,relayer,indexer,webhooks,media" });
    expect(moneta.service.ipfsNode).to.equal(null);
    const alone = moneta.spawn({
      ...ENV,
      ROLES: "ipfs",
      DATABASE_URL: moneta.databaseUrl,
      SEED_FILE: join(moneta.folder, "no-seed-here"),
    });
    const [, peerId = "", address = ""] = await alone.printed(/"peerId":"(\w+)","addresses":\["([^"]+)"/);
    await alone.printed(/"msg":"serving"/);
    const peer = await startPeer();
    await peer.connect([address]);
    const cid = await mint(await api.collection({ type: "ERC721" }), "data:,GIF89a");
    expect(Buffer.from(await peer.block(cid)).toString()).to.equal("GIF89a");
    await announced(peer, cid, peerId);
    expect(existsSync(join(moneta.folder, "no-seed-here"))).to.equal(false);
    expect(await alone.end("SIGTERM")).to.equal(0);
  });

  it("says as a process who it is and where, keeps its key to itself, and ends cleanly", async () => {
    const process = moneta.spawn(ENV);
    await process.printed(/"peerId":"12D3Koo\w+","addresses":\["\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/12D3Koo\w+"\]/);
    await process.printed(/"msg":"serving"/);
    expect(await process.end("SIGTERM")).to.equal(0);
    const file = join(moneta.folder, "ipfs-node.key");
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(process.output).to.not.contain((await readFile(file, "utf8")).trim());

    const taken = moneta.spawn({ ...ENV, IPFS_LISTEN: `/ip4/127.0.0.1/tcp/${server!.port.toString()}` });
    expect(await taken.gone()).to.equal(1);
    expect(taken.output).to.contain("Check that the addresses in IPFS_LISTEN are free");
    expect(taken.output).to.contain("EADDRINUSE");
  });
});
