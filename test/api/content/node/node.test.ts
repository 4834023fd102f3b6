import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { identity } from "multiformats/hashes/identity";
import pino from "pino";

import { BlockFiles } from "../../../../api/content/block-files.ts";
import type { IpfsNode, startIpfsNode } from "../../../../api/content/node/node.ts";
import { freePort } from "../../../../scripts/scene/loopback.ts";
import { ipfsPackagesAreInstalled } from "../../../support/ipfs-packages.ts";
import type { IpfsPeer } from "../../../support/ipfs-peer.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { blockOf } from "../../support/content.ts";

const PEER = "12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8";

describe("IPFS node", () => {
  const folder = useFolder();
  let start: typeof startIpfsNode;
  let startPeer: typeof IpfsPeer.start;
  let policy: { isPrivate: (listen: string, bootstrap: string[]) => boolean; may: (address: string) => boolean };

  before(async function () {
    if (!ipfsPackagesAreInstalled()) this.skip();
    start = (await import("../../../../api/content/node/node.ts")).startIpfsNode;
    const { IpfsPeer } = await import("../../../support/ipfs-peer.ts");
    startPeer = (...options) => IpfsPeer.start(...options);
    const { isPrivateNetwork, mayDial } = await import("../../../../api/content/node/node.ts");
    const { multiaddr } = await import("@multiformats/multiaddr");
    const known = [multiaddr(`/dns4/peer.example/tcp/4001/p2p/${PEER}`)];
    policy = {
      isPrivate: (listen, bootstrap) =>
        isPrivateNetwork(
          [multiaddr(listen)],
          bootstrap.map((peer) => multiaddr(peer)),
        ),
      may: (address) => mayDial(multiaddr(address), known),
    };
  });

  describe("given blocks of every kind", () => {
    let blocks: BlockFiles;
    let node: IpfsNode;
    let peer: IpfsPeer;
    const logged: string[] = [];

    beforeEach(async () => {
      blocks = new BlockFiles(join(folder.path, "blocks"));
      node = await start({
        listen: ["/ip4/127.0.0.1/tcp/0"],
        announce: [],
        bootstrap: [],
        identityFile: join(folder.path, "key"),
        blocks,
        logger: pino({ level: "warn" }, { write: (line: string) => logged.push(line) }),
      });
      peer = await startPeer();
      await peer.connect(node.addresses);
    });
    afterEach(async () => {
      await peer.stop();
      await node.stop();
    });

    const add = async (text: string): Promise<CID> => {
      const { cid, bytes } = await blockOf(text);
      await blocks.put(cid, bytes);
      return cid;
    };

    it("serves valid blocks only", async () => {
      const spoilt = await add("spoilt");
      for (const name of await readdir(join(folder.path, "blocks"), { recursive: true })) {
        if (name.endsWith(spoilt.toString())) await writeFile(join(folder.path, "blocks", name), "other");
      }
      const whole = await add("whole");
      const given = new AbortController();
      const asked = [
        spoilt,
        // An identity CID, and a CID too long for a file name.
        CID.createV1(raw.code, identity.digest(Buffer.from("inline"))),
        CID.createV1(raw.code, identity.digest(Buffer.alloc(1_000))),
      ].map((cid) =>
        peer.block(cid, given.signal).then(
          () => "given",
          () => "refused",
        ),
      );
      expect(Buffer.from(await peer.block(whole)).toString()).to.equal("whole");
      given.abort();
      expect(await Promise.all(asked)).to.deep.equal(["refused", "refused", "refused"]);
      expect(logged.join()).to.contain("a block cannot be served to IPFS peers");
    });
  });

  describe("given unreachable bootstrap peers", () => {
    it("starts, warns that it has no public address, cancels an announcement on request, and stops", async () => {
      const logged: string[] = [];
      const options = {
        listen: ["/ip4/127.0.0.1/tcp/0"],
        announce: [] as string[],
        bootstrap: [`/dns4/localhost/tcp/${(await freePort()).toString()}/p2p/${PEER}`],
        identityFile: join(folder.path, "key"),
        blocks: new BlockFiles(join(folder.path, "blocks")),
        logger: pino({ level: "warn" }, { write: (line: string) => logged.push(line) }),
      };
      const first = await start(options);
      expect(logged.join()).to.contain("set IPFS_ANNOUNCE");
      const abort = new AbortController();
      const announced = first.announce((await blockOf("cat")).cid, abort.signal).catch(() => 0);
      abort.abort();
      expect(await announced).to.equal(0);
      await first.stop();

      logged.length = 0;
      const second = await start({ ...options, announce: ["/dns4/nft.example/tcp/4001"] });
      expect(second.addresses).to.deep.equal([`/dns4/nft.example/tcp/4001/p2p/${first.peerId}`]);
      expect(logged).to.deep.equal([]);
      await second.stop();
    });
  });

  describe("on the public network", () => {
    it("is, unless a bootstrap peer is private, or there is none and it listens on loopback only", () => {
      const dns = `/dns4/peer.example/tcp/4001/p2p/${PEER}`;
      expect(policy.isPrivate("/ip4/0.0.0.0/tcp/4001", [])).to.equal(false);
      expect(policy.isPrivate("/ip4/0.0.0.0/tcp/4001", [dns])).to.equal(false);
      expect(policy.isPrivate("/ip4/192.168.1.2/tcp/4001", [`/ip4/104.131.131.82/tcp/1/p2p/${PEER}`])).to.equal(false);
      expect(policy.isPrivate("/ip4/127.0.0.1/tcp/4001", [dns])).to.equal(false);
      expect(policy.isPrivate("/ip6/::1/tcp/4001", [])).to.equal(true);
      expect(policy.isPrivate("/ip4/0.0.0.0/tcp/4001", [`/ip4/10.0.0.1/tcp/4001/p2p/${PEER}`])).to.equal(true);
    });

    for (const [address, may] of [
      ["/ip4/104.131.131.82/tcp/4001", true],
      ["/ip6/2604:1380::1/tcp/4001", true],
      ["/dns4/peer.example/tcp/4001", true],
      ["/dns4/other.example/tcp/4001", false],
      ["/ip4/127.0.0.1/tcp/8545", false],
      ["/ip4/169.254.169.254/tcp/80", false],
      ["/ip4/10.0.0.1/tcp/4001", false],
      ["/ip6/::ffff:10.0.0.1/tcp/4001", false],
    ] as const) {
      it(`${may ? "connects" : "does not connect"} to ${address}`, () => {
        expect(policy.may(address)).to.equal(may);
      });
    }
  });
});
