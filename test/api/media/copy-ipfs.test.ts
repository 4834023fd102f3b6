import { readdir } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";

import * as dagPb from "@ipld/dag-pb";
import { expect } from "chai";
import { importer } from "ipfs-unixfs-importer";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { identity } from "multiformats/hashes/identity";
import { sha256, sha512 } from "multiformats/hashes/sha2";

import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { findFile, walkBlocks } from "../../../api/ipfs/content.ts";
import { copyMedia, type CopyDeps } from "../../../api/media/copy-media.ts";
import { MediaError } from "../../../api/media/media-error.ts";
import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { collect } from "../../support/collect.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { TrustlessGateway } from "../../support/trustless-gateway.ts";

const MIB = 2 ** 20;
/** Types of UnixFS nodes. */
const FILE = 2;
const SYMLINK = 4;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

describe("copyMedia with an ipfs URL", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let gateway: TrustlessGateway;
  let deps: CopyDeps;
  const strict = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  const local = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });

  before(async () => {
    gateway = new TrustlessGateway();
    await gateway.start();
  });
  after(async () => {
    await Promise.all([strict.destroy(), local.destroy()]);
    await gateway.stop();
  });
  beforeEach(async () => {
    gateway.asked.length = 0;
    gateway.blocks.clear();
    gateway.instead = null;
    folder = await temporaryFolder();
    deps = {
      blocks: new BlockFiles(folder.path),
      agent: strict,
      gateway: { url: gateway.url, agent: local },
      maxBytes: 20 * MIB,
      deadline: 5_000,
    };
  });
  afterEach(() => folder.remove());

  const copy = (cid: CID | string) => copyMedia(deps, `ipfs://${cid.toString()}`, new AbortController().signal);
  const problem = (cid: CID | string) =>
    copy(cid).then(
      () => ["copied", ""],
      (error: unknown) => (error instanceof MediaError ? [error.errorCode, error.message] : ["fault", String(error)]),
    );
  /** What is left on disk, drafts included. */
  const files = async () =>
    (await readdir(folder.path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const expectNothing = async () => {
    expect((await files()).map((entry) => join(entry.parentPath, entry.name))).to.deep.equal([]);
  };
  const block = async (bytes: Uint8Array, code: number = raw.code): Promise<CID> => {
    const cid = CID.createV1(code, await sha256.digest(bytes));
    gateway.add(cid, bytes);
    return cid;
  };
  /** A UnixFS node, encoded by hand, so that it can declare anything about its parts. */
  const node = (links: { Hash: CID; Tsize: number }[], type: number, sizes: number[], data = ""): Promise<CID> => {
    const total = sizes.reduce((sum, size) => sum + size, data.length);
    const fields = [0x08, type, ...(data === "" ? [] : [0x12, ...varint(data.length), ...Buffer.from(data)])];
    const Data = Uint8Array.from([
      ...fields,
      ...[0x18, ...varint(total)],
      ...sizes.flatMap((size) => [0x20, ...varint(size)]),
    ]);
    return block(dagPb.encode({ Data, Links: links.map((link) => ({ Name: "", ...link })) }), dagPb.code);
  };
  const fileOf = (links: { Hash: CID; Tsize: number }[], sizes: number[]) => node(links, FILE, sizes);
  /** A file in the format of other implementations and older versions. @returns the root. */
  const published = async (
    entries: { path?: string; content: Uint8Array }[],
    options: Parameters<typeof importer>[2] = {},
  ): Promise<CID> => {
    const sink = {
      put: async (cid: CID, bytes: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>) => {
        const parts: Uint8Array[] = [];
        if (bytes instanceof Uint8Array) parts.push(bytes);
        else for await (const part of bytes) parts.push(part);
        gateway.add(cid, Buffer.concat(parts));
        return cid;
      },
    };
    return (await collect(importer(entries, sink, options))).at(-1)!.cid;
  };
  const read = async (cid: CID): Promise<Buffer> => {
    const file = await findFile(deps.blocks, cid, "");
    return Buffer.concat(await collect(file!.read()));
  };

  for (const [words, options] of [
    ["version 0, blocks of 256 KiB in nodes of their own", { profile: "unixfs-v0-2015" }],
    ["version 1, raw blocks of 1 MiB", { profile: "unixfs-v1-2025" }],
    ["version 1, raw blocks of 256 KiB", { cidVersion: 1, rawLeaves: true }],
  ] as const) {
    it(`keeps the CID of the URL: ${words}`, async () => {
      const content = Buffer.alloc(3_000_000, words);
      const cid = await published([{ content }], options);
      const stored = await copy(cid);
      expect(stored).to.deep.equal({
        cid: cid.toV1().toString(),
        type: "text/plain; charset=utf-8",
        size: content.length,
      });
      expect((await read(cid)).equals(content)).to.equal(true);
      expect(await collect(walkBlocks(deps.blocks, cid, new Set()))).to.have.length((await files()).length);
      // Everything is stored now, so nothing is fetched again.
      gateway.asked.length = 0;
      expect(await copy(cid)).to.deep.equal(stored);
      expect(gateway.asked).to.deep.equal([]);
    });
  }

  it("finds a file in a directory, and stores nothing else of the directory", async () => {
    const cat = Buffer.from("\x89PNG\r\n\x1a\n cat");
    const entries = [
      { path: "nft/images/cat.png", content: cat },
      { path: "nft/images/dog.png", content: Buffer.from("dog") },
      { path: "nft/a b/%63.txt", content: Buffer.from("strange name") },
    ];
    const root = await published(entries, { profile: "unixfs-v0-2015" });
    const stored = await copy(`${root.toString()}/images/cat.png`);
    expect(stored.size).to.equal(cat.length);
    expect((await read(CID.parse(stored.cid))).equals(cat)).to.equal(true);
    expect(await files()).to.have.length(1);
    expect(await copy(`${root.toString()}/a%20b/%2563.txt`)).to.include({ size: 12 });
    for (const path of ["images", "images/cow.png", "images/cat.png/x", "../images/cat.png", ""]) {
      expect((await problem(`${root.toString()}/${path}`))[0], path).to.equal("media_unavailable");
    }
  });

  it("finds a file in a directory that is spread over many blocks", async () => {
    const entries = Array.from({ length: 3_000 }, (_, id) => ({
      path: `all/${id.toString().padStart(90, "0")}.json`,
      content: Buffer.from(id.toString()),
    }));
    const root = await published(entries, { profile: "unixfs-v1-2025" });
    const stored = await copy(`${root.toString()}/${"1234".padStart(90, "0")}.json`);
    expect((await read(CID.parse(stored.cid))).toString()).to.equal("1234");
    expect(gateway.asked.length).to.be.lessThan(10);
  });

  it("reads stored blocks from its own store and fetches only the missing ones", async () => {
    const cid = await published([{ content: Buffer.alloc(3_000_000, "cat") }], { profile: "unixfs-v1-2025" });
    await copy(cid);
    const [, leaf] = await collect(walkBlocks(deps.blocks, cid, new Set()));
    await deps.blocks.quarantine().add(leaf!.cid, Infinity);
    gateway.asked.length = 0;
    await copy(cid);
    expect(gateway.asked).to.deep.equal([`/ipfs/${leaf!.cid.toString()}?format=raw`]);
  });

  describe("given a gateway that lies", () => {
    it("stores nothing when the bytes do not match the CID", async () => {
      const content = Buffer.alloc(3_000_000, "cat");
      const cid = await published([{ path: "a/cat.png", content }], { profile: "unixfs-v0-2015" });
      for (const name of new Set([...gateway.blocks.keys()].map((key) => CID.parse(key).toV1().toString()))) {
        gateway.instead = (response, asked) => {
          const bytes = gateway.blocks.get(asked) ?? Buffer.alloc(0);
          response.end(CID.parse(asked).toV1().toString() === name ? Buffer.concat([bytes, Buffer.from("!")]) : bytes);
        };
        const [code, words] = await problem(`${cid.toString()}/cat.png`);
        expect(code, name).to.equal("media_unavailable");
        expect(words).to.contain("did not answer the block");
        await expectNothing();
      }
    });

    it("fetches and stores only blocks that the content links to", async () => {
      const cid = await published([{ content: Buffer.from("cat") }], { profile: "unixfs-v1-2025" });
      const stranger = await block(Buffer.from("unrelated"));
      await copy(cid);
      expect(gateway.asked).to.deep.equal(Array(gateway.asked.length).fill(`/ipfs/${cid.toString()}?format=raw`));
      expect(await deps.blocks.has(stranger)).to.equal(false);
    });

    for (const [words, instead] of [
      ["files in place of blocks", (response: ServerResponse) => response.end(Buffer.alloc(3_000_000, "cat"))],
      ["a page", (response: ServerResponse) => response.end("<html>")],
      ["an empty answer", (response: ServerResponse) => response.end()],
      [
        "a block without an end",
        (response: ServerResponse) => {
          const more = () => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          };
          response.on("drain", more);
          more();
        },
      ],
    ] as [string, (response: ServerResponse) => void][]) {
      it(`refuses ${words}, and says what the gateway must support`, async () => {
        const cid = await published([{ content: Buffer.alloc(3_000_000, "cat") }], { profile: "unixfs-v1-2025" });
        gateway.instead = instead;
        const [code, reason] = await problem(cid);
        expect(code).to.equal("media_unavailable");
        expect(reason).to.contain('It must support "?format=raw"');
        await expectNothing();
      });
    }

    it("has the same timeout as for other media", async () => {
      const cid = await published([{ content: Buffer.from("cat") }]);
      deps = { ...deps, deadline: 100 };
      gateway.instead = () => undefined;
      expect(await problem(cid)).to.deep.equal(["media_unavailable", "The download did not finish in time."]);
      await expectNothing();
    });

    it("marks errors that may be temporary as transient", async () => {
      const cid = await published([{ content: Buffer.from("cat") }]);
      for (const [status, transient] of [
        [429, true],
        [503, true],
        [404, false],
      ] as const) {
        gateway.instead = (response) => response.writeHead(status).end();
        const error: unknown = await copy(cid).catch((thrown: unknown) => thrown);
        expect(error).to.include({ errorCode: "media_unavailable", transient });
      }
    });

    it("never follows a redirect to a private address", async () => {
      const cid = await published([{ content: Buffer.from("cat") }]);
      deps = { ...deps, gateway: { url: gateway.url, agent: local } };
      gateway.instead = (response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
      expect((await problem(cid))[0]).to.equal("media_blocked");
    });
  });

  describe("given hostile content with a correct CID", () => {
    it("refuses more bytes than other media may have, whatever size it declares", async () => {
      deps = { ...deps, maxBytes: 1_000_000 };
      const large = await published([{ content: Buffer.alloc(1_000_001) }]);
      expect((await problem(large))[0]).to.equal("media_too_large");
      const leaf = await block(Buffer.alloc(MIB));
      const modest = await fileOf(
        Array.from({ length: 50 }, () => ({ Hash: leaf, Tsize: 10 })),
        Array.from({ length: 50 }, () => 10),
      );
      expect((await problem(modest))[0]).to.equal("media_unavailable");
      await expectNothing();
    });

    it("refuses a file that is longer or shorter than it declares", async () => {
      const leaf = await block(Buffer.from("12345"));
      for (const size of [4, 6, 1_000]) {
        const cid = await fileOf([{ Hash: leaf, Tsize: 5 }], [size]);
        expect((await problem(cid))[0], size.toString()).to.equal("media_unavailable");
      }
      await expectNothing();
    });

    it("ends even if blocks link to each other very often", async () => {
      // A dozen blocks, which stand for a file of a million million parts; or for an empty one.
      for (const size of [1, 0]) {
        let cid = await block(Buffer.alloc(size));
        for (let level = 0; level < 12; level++) {
          const links = Array.from({ length: 10 }, () => ({ Hash: cid, Tsize: 1 }));
          cid = await fileOf(
            links,
            links.map(() => size * 10 ** level),
          );
        }
        expect((await problem(cid))[0]).to.equal(size === 1 ? "media_too_large" : "media_unavailable");
      }
      // Small parts, so many that reading them would take its time.
      let cid = await block(Buffer.from("x"));
      for (let level = 0; level < 4; level++) {
        const links = Array.from({ length: 20 }, () => ({ Hash: cid, Tsize: 1 }));
        cid = await fileOf(
          links,
          links.map(() => 20 ** level),
        );
      }
      expect((await problem(cid))[0]).to.equal("media_too_large");
      await expectNothing();
    });

    it("ends even if the content is very deep", async () => {
      let cid = await block(Buffer.from("deep"));
      const levels: CID[] = [];
      for (let level = 0; level < 3_000; level++) levels.push((cid = await fileOf([{ Hash: cid, Tsize: 4 }], [4])));
      expect((await problem(cid))[0]).to.equal("media_unavailable");
      await expectNothing();
      expect(await copy(levels[20]!)).to.include({ size: 4 });
    });

    it("refuses a block that is larger than IPFS transfers", async () => {
      const cid = await block(Buffer.alloc(2 * MIB + 1));
      expect((await problem(cid))[0]).to.equal("media_unavailable");
      const most = await block(Buffer.alloc(2 * MIB));
      expect(await copy(most)).to.include({ size: 2 * MIB });
    });

    it("refuses formats that cannot be stored under their CID", async () => {
      const bytes = Buffer.from("hello");
      const inline = CID.createV1(raw.code, identity.digest(bytes));
      const long = CID.createV1(raw.code, await sha512.digest(bytes));
      const cbor = CID.createV1(0x71, await sha256.digest(Buffer.from([0xa0])));
      gateway.add(long, bytes);
      for (const cid of [inline, long, cbor]) {
        expect((await problem(cid))[0]).to.equal("media_unavailable");
        const around = await fileOf([{ Hash: cid, Tsize: 5 }], [5]);
        expect((await problem(around))[0]).to.equal("media_unavailable");
      }
      await expectNothing();
    });

    it("refuses content that is nothing at all, without a retry", async () => {
      const noise = await block(Buffer.from([0xff, 0xff, 0xff]), dagPb.code);
      const empty = await block(dagPb.encode({ Links: [] }), dagPb.code);
      const odd = await block(dagPb.encode({ Data: Buffer.from([0xff, 0x01]), Links: [] }), dagPb.code);
      const link = await node([], SYMLINK, [], "/etc/passwd");
      const inner = await fileOf([{ Hash: odd, Tsize: 4 }], [4]);
      for (const cid of [noise, empty, odd, link, inner]) {
        expect((await problem(cid))[0], cid.toString()).to.equal("media_unavailable");
      }
      await expectNothing();
    });
  });

  it("reports a full disk as an error of the service, not of the content", async () => {
    const cid = await published([{ content: Buffer.from("cat") }]);
    const full = new BlockFiles(join(folder.path, "file"));
    deps = { ...deps, blocks: full };
    full.adopt = () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC", errno: -28 }));
    expect((await problem(cid))[0]).to.equal("fault");
  });
});
