import type { ServerResponse } from "node:http";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";

import { BlockFiles } from "../../../../api/content/block-files.ts";
import { BlockStoreUnavailable } from "../../../../api/content/block-store.ts";
import { findFile, walkBlocks } from "../../../../api/content/content.ts";
import { collect } from "../../../support/collect.ts";
import { useIpfsCopy } from "./support/use-ipfs-copy.ts";

describe("copyMedia with an ipfs URL", () => {
  const ipfs = useIpfsCopy();
  const read = async (cid: CID): Promise<Buffer> => {
    const file = await findFile(ipfs.deps.blocks, cid, "");
    return Buffer.concat(await collect(file!.read()));
  };

  for (const [words, options] of [
    ["version 0, blocks of 256 KiB in nodes of their own", { profile: "unixfs-v0-2015" }],
    ["version 1, raw blocks of 1 MiB", { profile: "unixfs-v1-2025" }],
    ["version 1, raw blocks of 256 KiB", { cidVersion: 1, rawLeaves: true }],
  ] as const) {
    it(`keeps the CID of the URL: ${words}`, async () => {
      const content = Buffer.alloc(3_000_000, words);
      const cid = await ipfs.published([{ content }], options);
      const stored = await ipfs.copy(cid);
      expect(stored).to.deep.equal({
        cid: cid.toV1().toString(),
        type: "text/plain; charset=utf-8",
        size: content.length,
      });
      expect((await read(cid)).equals(content)).to.equal(true);
      expect(await collect(walkBlocks(ipfs.deps.blocks, cid, new Set()))).to.have.length((await ipfs.files()).length);
      // Everything is stored now, so nothing is fetched again.
      ipfs.gateway.asked.length = 0;
      expect(await ipfs.copy(cid)).to.deep.equal(stored);
      expect(ipfs.gateway.asked).to.deep.equal([]);
    });
  }

  it("finds a file in a directory, and stores nothing else of the directory", async () => {
    const cat = Buffer.from("\x89PNG\r\n\x1a\n cat");
    const entries = [
      { path: "nft/images/cat.png", content: cat },
      { path: "nft/images/dog.png", content: Buffer.from("dog") },
      { path: "nft/a b/%63.txt", content: Buffer.from("strange name") },
    ];
    const root = await ipfs.published(entries, { profile: "unixfs-v0-2015" });
    const stored = await ipfs.copy(`${root.toString()}/images/cat.png`);
    expect(stored.size).to.equal(cat.length);
    expect((await read(CID.parse(stored.cid))).equals(cat)).to.equal(true);
    expect(await ipfs.files()).to.have.length(1);
    expect(await ipfs.copy(`${root.toString()}/a%20b/%2563.txt`)).to.include({ size: 12 });
    for (const path of ["images", "images/cow.png", "images/cat.png/x", "../images/cat.png", ""]) {
      expect((await ipfs.problem(`${root.toString()}/${path}`))[0], path).to.equal("media_unavailable");
    }
  });

  it("finds a file in a directory that is spread over many blocks", async () => {
    const entries = Array.from({ length: 3_000 }, (_, id) => ({
      path: `all/${id.toString().padStart(90, "0")}.json`,
      content: Buffer.from(id.toString()),
    }));
    const root = await ipfs.published(entries, { profile: "unixfs-v1-2025" });
    const stored = await ipfs.copy(`${root.toString()}/${"1234".padStart(90, "0")}.json`);
    expect((await read(CID.parse(stored.cid))).toString()).to.equal("1234");
    expect(ipfs.gateway.asked.length).to.be.lessThan(10);
  });

  it("reads stored blocks from its own store and fetches only the missing ones", async () => {
    const cid = await ipfs.published([{ content: Buffer.alloc(3_000_000, "cat") }], { profile: "unixfs-v1-2025" });
    await ipfs.copy(cid);
    const [, leaf] = await collect(walkBlocks(ipfs.deps.blocks, cid, new Set()));
    await ipfs.deps.blocks.quarantine().add([leaf!.cid], Infinity);
    ipfs.gateway.asked.length = 0;
    await ipfs.copy(cid);
    expect(ipfs.gateway.asked).to.deep.equal([`/ipfs/${leaf!.cid.toString()}?format=raw`]);
  });

  describe("given a gateway that lies", () => {
    it("stores nothing when the bytes do not match the CID", async () => {
      const content = Buffer.alloc(3_000_000, "cat");
      const cid = await ipfs.published([{ path: "a/cat.png", content }], { profile: "unixfs-v0-2015" });
      for (const name of new Set([...ipfs.gateway.blocks.keys()].map((key) => CID.parse(key).toV1().toString()))) {
        ipfs.gateway.instead = (response, asked) => {
          const bytes = ipfs.gateway.blocks.get(asked) ?? Buffer.alloc(0);
          response.end(CID.parse(asked).toV1().toString() === name ? Buffer.concat([bytes, Buffer.from("!")]) : bytes);
        };
        const [code, words] = await ipfs.problem(`${cid.toString()}/cat.png`);
        expect(code, name).to.equal("media_unavailable");
        expect(words).to.contain("returned other bytes than the block");
        await ipfs.expectNoFiles();
      }
    });

    it("fetches and stores only blocks that the content links to", async () => {
      const cid = await ipfs.published([{ content: Buffer.from("cat") }], { profile: "unixfs-v1-2025" });
      const stranger = await ipfs.block(Buffer.from("unrelated"));
      await ipfs.copy(cid);
      expect(ipfs.gateway.asked).to.deep.equal(
        Array(ipfs.gateway.asked.length).fill(`/ipfs/${cid.toString()}?format=raw`),
      );
      expect(await ipfs.deps.blocks.has(stranger)).to.equal(false);
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
        const cid = await ipfs.published([{ content: Buffer.alloc(3_000_000, "cat") }], { profile: "unixfs-v1-2025" });
        ipfs.gateway.instead = instead;
        const [code, reason] = await ipfs.problem(cid);
        expect(code).to.equal("media_unavailable");
        expect(reason).to.contain('It must support "?format=raw"');
        await ipfs.expectNoFiles();
      });
    }

    it("has the same timeout as for other media", async () => {
      const cid = await ipfs.published([{ content: Buffer.from("cat") }]);
      ipfs.deps = { ...ipfs.deps, deadline: 100 };
      ipfs.gateway.instead = () => undefined;
      expect(await ipfs.problem(cid)).to.deep.equal(["media_unavailable", "The download did not finish in time."]);
      await ipfs.expectNoFiles();
    });

    it("marks errors that may be temporary as transient", async () => {
      const cid = await ipfs.published([{ content: Buffer.from("cat") }]);
      for (const [status, transient] of [
        [429, true],
        [503, true],
        [404, false],
      ] as const) {
        ipfs.gateway.instead = (response) => response.writeHead(status).end();
        const error: unknown = await ipfs.copy(cid).catch((thrown: unknown) => thrown);
        expect(error).to.include({ errorCode: "media_unavailable", transient });
      }
    });

    it("never follows a redirect to a private address", async () => {
      const cid = await ipfs.published([{ content: Buffer.from("cat") }]);
      ipfs.deps = { ...ipfs.deps, gateway: { url: ipfs.gateway.url, agent: ipfs.deps.gateway!.agent } };
      ipfs.gateway.instead = (response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
      expect((await ipfs.problem(cid))[0]).to.equal("media_blocked");
    });
  });

  it("reports a full disk as an error of the service, not of the content", async () => {
    const cid = await ipfs.published([{ content: Buffer.from("cat") }]);
    const full = new BlockFiles(join(ipfs.folder, "file"));
    ipfs.deps = { ...ipfs.deps, blocks: full };
    const noSpace = Object.assign(new Error("no space left"), { code: "ENOSPC", errno: -28, syscall: "rename" });
    full.adopt = () => Promise.reject(noSpace);
    expect((await ipfs.problem(cid))[0]).to.equal("fault");
    full.adopt = () => Promise.reject(new BlockStoreUnavailable("the bucket does not answer"));
    expect((await ipfs.problem(cid))[0]).to.equal("fault");
  });
});
