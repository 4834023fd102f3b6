import * as dagPb from "@ipld/dag-pb";
import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { identity } from "multiformats/hashes/identity";
import { sha256, sha512 } from "multiformats/hashes/sha2";

import { MIB, useIpfsCopy } from "./support/use-ipfs-copy.ts";

/** The type of a symbolic link among the nodes of UnixFS. */
const SYMLINK = 4;

describe("copyMedia with an ipfs URL: hostile content with a correct CID", () => {
  const ipfs = useIpfsCopy();

  it("refuses more bytes than other media may have, whatever size it declares", async () => {
    ipfs.deps = { ...ipfs.deps, maxBytes: 1_000_000 };
    const large = await ipfs.published([{ content: Buffer.alloc(1_000_001) }]);
    expect((await ipfs.problem(large))[0]).to.equal("media_too_large");
    const leaf = await ipfs.block(Buffer.alloc(MIB));
    const modest = await ipfs.fileOf(
      Array.from({ length: 50 }, () => ({ Hash: leaf, Tsize: 10 })),
      Array.from({ length: 50 }, () => 10),
    );
    expect((await ipfs.problem(modest))[0]).to.equal("media_unavailable");
    await ipfs.expectNoFiles();
  });

  it("refuses a file that is longer or shorter than it declares", async () => {
    const leaf = await ipfs.block(Buffer.from("12345"));
    for (const size of [4, 6, 1_000]) {
      const cid = await ipfs.fileOf([{ Hash: leaf, Tsize: 5 }], [size]);
      expect((await ipfs.problem(cid))[0], size.toString()).to.equal("media_unavailable");
    }
    await ipfs.expectNoFiles();
  });

  it("ends even if blocks link to each other very often", async () => {
    // A dozen blocks, which stand for a file of a million million parts; or for an empty one.
    for (const size of [1, 0]) {
      let cid = await ipfs.block(Buffer.alloc(size));
      for (let level = 0; level < 12; level++) {
        const links = Array.from({ length: 10 }, () => ({ Hash: cid, Tsize: 1 }));
        cid = await ipfs.fileOf(
          links,
          links.map(() => size * 10 ** level),
        );
      }
      expect((await ipfs.problem(cid))[0]).to.equal(size === 1 ? "media_too_large" : "media_unavailable");
    }
    // Small parts, so many that reading them would take its time.
    let cid = await ipfs.block(Buffer.from("x"));
    for (let level = 0; level < 4; level++) {
      const links = Array.from({ length: 20 }, () => ({ Hash: cid, Tsize: 1 }));
      cid = await ipfs.fileOf(
        links,
        links.map(() => 20 ** level),
      );
    }
    expect((await ipfs.problem(cid))[0]).to.equal("media_too_large");
    await ipfs.expectNoFiles();
  });

  it("ends even if the content is very deep", async () => {
    let cid = await ipfs.block(Buffer.from("deep"));
    const levels: CID[] = [];
    for (let level = 0; level < 3_000; level++) levels.push((cid = await ipfs.fileOf([{ Hash: cid, Tsize: 4 }], [4])));
    expect((await ipfs.problem(cid))[0]).to.equal("media_unavailable");
    await ipfs.expectNoFiles();
    expect(await ipfs.copy(levels[20]!)).to.include({ size: 4 });
  });

  it("refuses a block that is larger than IPFS transfers", async () => {
    const cid = await ipfs.block(Buffer.alloc(2 * MIB + 1));
    expect((await ipfs.problem(cid))[0]).to.equal("media_unavailable");
    const most = await ipfs.block(Buffer.alloc(2 * MIB));
    expect(await ipfs.copy(most)).to.include({ size: 2 * MIB });
  });

  it("refuses formats that cannot be stored under their CID", async () => {
    const bytes = Buffer.from("hello");
    const inline = CID.createV1(raw.code, identity.digest(bytes));
    const long = CID.createV1(raw.code, await sha512.digest(bytes));
    const cbor = CID.createV1(0x71, await sha256.digest(Buffer.from([0xa0])));
    ipfs.gateway.add(long, bytes);
    for (const cid of [inline, long, cbor]) {
      expect((await ipfs.problem(cid))[0]).to.equal("media_unavailable");
      const around = await ipfs.fileOf([{ Hash: cid, Tsize: 5 }], [5]);
      expect((await ipfs.problem(around))[0]).to.equal("media_unavailable");
    }
    await ipfs.expectNoFiles();
  });

  it("refuses content that is nothing at all, without a retry", async () => {
    const noise = await ipfs.block(Buffer.from([0xff, 0xff, 0xff]), dagPb.code);
    const empty = await ipfs.block(dagPb.encode({ Links: [] }), dagPb.code);
    const odd = await ipfs.block(dagPb.encode({ Data: Buffer.from([0xff, 0x01]), Links: [] }), dagPb.code);
    const link = await ipfs.node([], SYMLINK, [], "/etc/passwd");
    const inner = await ipfs.fileOf([{ Hash: odd, Tsize: 4 }], [4]);
    for (const cid of [noise, empty, odd, link, inner]) {
      expect((await ipfs.problem(cid))[0], cid.toString()).to.equal("media_unavailable");
    }
    await ipfs.expectNoFiles();
  });
});
