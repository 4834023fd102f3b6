import { readdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { expect } from "chai";

import { BlockFiles, DiskReserve } from "../../../../api/content/block-files.ts";
import { parseCid } from "../../../../api/content/cids.ts";
import { importContent } from "../../../../api/content/content.ts";
import { type CopyDeps, copyMedia } from "../../../../api/content/copy/copy-media.ts";
import { MediaError } from "../../../../api/outbound/download.ts";
import type { MediaUse } from "../../../../client/rules/media.ts";
import { createOutboundAgent } from "../../../../api/outbound/agent.ts";
import { collect } from "../../../support/collect.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { streamOf } from "../../support/content.ts";

const HELLO = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e";

describe("copyMedia", () => {
  const folder = useFolder();
  let deps: CopyDeps;
  let server: Server;
  let base: string;
  const asked: string[] = [];
  const strict = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  const local = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });

  before(async () => {
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}`;
  });
  after(async () => {
    await Promise.all([strict.destroy(), local.destroy()]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    server.removeAllListeners("request").on("request", (request: IncomingMessage, response: ServerResponse) => {
      asked.push(request.url ?? "");
      if (request.url === "/missing") response.writeHead(404).end();
      else response.end("hello world");
    });
    asked.length = 0;
    deps = { blocks: new BlockFiles(folder.path), agent: local, gateway: null, maxBytes: 1_000, deadline: 60_000 };
  });

  const copy = (url: string, use: MediaUse = "any") => copyMedia(deps, { url, use }, new AbortController().signal);
  const codeOf = (url: string) =>
    copy(url).then(
      () => "copied",
      (error: unknown) => (error instanceof MediaError ? error.errorCode : String(error)),
    );

  it("stores the content of an http URL with its media type", async () => {
    expect(await copy(`${base}/cat.png`)).to.deep.equal({ cid: HELLO, type: "text/plain; charset=utf-8", size: 11 });
    expect(await deps.blocks.has(parseCid(HELLO)!)).to.equal(true);
  });

  it("fails as the service, not as the content, when the disk has no room", async () => {
    const space = new DiskReserve(folder.path, 0, () => Promise.resolve({ used: 0, free: 10 }));
    deps = { ...deps, blocks: new BlockFiles(folder.path, space) };
    expect(await codeOf(`${base}/cat.png`)).to.match(/^BlockStoreUnavailable: .*MIN_FREE_DISK_BYTES/);
    expect(await collect(deps.blocks.all())).to.deep.equal([]);
  });

  it("stores the same bytes only once, whatever their source", async () => {
    await copy(`${base}/a`);
    await copy(`${base}/b`);
    await copy("data:,hello%20world");
    expect(await collect(deps.blocks.all())).to.have.length(1);
  });

  it("keeps nothing of a refused or incomplete download", async () => {
    const sent = Buffer.alloc(3_000_000, "large");
    server.removeAllListeners("request").on("request", (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === "/broken") response.writeHead(200, { "content-length": "9000000" });
      response.write(sent, () => response.destroy());
    });
    for (const [path, code] of [
      ["/large", "media_too_large"],
      ["/broken", "media_unavailable"],
    ] as const) {
      deps = { ...deps, maxBytes: path === "/large" ? 2_900_000 : 10_000_000 };
      expect(await codeOf(base + path)).to.equal(code);
      expect(
        (await readdir(folder.path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()),
      ).to.deep.equal([]);
    }
  });

  it("refuses what it cannot copy, each with its error code", async () => {
    for (const [url, code] of [
      ["data:nothing", "media_unavailable"],
      ["data:;base64,!!!", "media_unavailable"],
      [`data:,${"x".repeat(1_001)}`, "media_too_large"],
      ["file:///etc/passwd", "media_blocked"],
      ["ftp://example.com/cat.png", "media_blocked"],
      ["cat.png", "media_blocked"],
      ["ipfs://cats", "media_unavailable"],
      [`${base}/missing`, "media_unavailable"],
    ] as const) {
      expect(await codeOf(url), url).to.equal(code);
    }
    deps = { ...deps, agent: strict };
    expect(await codeOf(`${base}/cat.png`)).to.equal("media_blocked");
    expect(asked).to.deep.equal(["/missing"]);
  });

  describe("given content that is no media", () => {
    const page = "<!doctype html><title>Log in</title>".padEnd(1_204);
    const gif = `data:,GIF89a`;
    const answers = (content: string) =>
      server.removeAllListeners("request").on("request", (_request, response: ServerResponse) => {
        response.end(content);
      });
    const messageOf = (url: string, use: MediaUse) =>
      copy(url, use).then(
        () => "copied",
        (error: unknown) => (error instanceof MediaError ? `${error.errorCode}: ${error.message}` : String(error)),
      );

    it("refuses it, and keeps nothing", async () => {
      deps = { ...deps, maxBytes: 2_000 };
      for (const [content, use, message] of [
        [page, "image", "an HTML page of 1,204 bytes, not an image or a video"],
        ['{"error":"not found"}', "image", "a JSON document of 21 bytes, not an image or a video"],
        ["", "image", "empty"],
        ["x", "image", "a text of 1 byte, not an image or a video"],
        ["ID3\x04\0\0\0\x10\0\0", "image", "sound (audio/mpeg) of 10 bytes, not an image or a video"],
        ["\x01\0", "image", "a file of unknown type of 2 bytes, not an image or a video"],
        ["", "animation_url", "empty"],
        ["{}", "animation_url", "a JSON document of 2 bytes, not an image, a video, sound, a model or an HTML page"],
      ] as const) {
        deps = { ...deps, blocks: new BlockFiles(join(folder.path, content.length.toString(), use)) };
        answers(content);
        expect(await messageOf(base, use)).to.equal(`media_unavailable: The content is ${message}.`);
        expect(await collect(deps.blocks.all())).to.deep.equal([]);
        const { cid } = await importContent(deps.blocks, streamOf(Buffer.from(content)));
        expect(await messageOf(`ipfs://${cid.toString()}`, use)).to.contain(message);
      }
    });

    it("copies pages, sound and models for animation_url, and pictures for both", async () => {
      deps = { ...deps, maxBytes: 2_000 };
      for (const content of [page, "ID3\x04\0\0\0\x10\0\0", "glTF\x02\0\0\0", '{"asset":{},"scenes":[]}', "\x01\0"]) {
        answers(content);
        expect(await messageOf(base, "animation_url")).to.equal("copied");
      }
      for (const use of ["image", "animation_url"] as const) expect(await messageOf(gif, use)).to.equal("copied");
    });
  });

  describe("given an ipfs URL", () => {
    const store = () => importContent(deps.blocks, streamOf(Buffer.from("hello world")));

    it("reads it from its own store without a connection", async () => {
      await store();
      deps = { ...deps, gateway: { url: base, agent: local } };
      for (const url of [`ipfs://${HELLO}`, `ipfs://ipfs/${HELLO}`, `ipfs://${HELLO}/`]) {
        expect(await copy(url)).to.include({ cid: HELLO });
      }
      expect(asked).to.deep.equal([]);
    });

    it("fetches it from the gateway if there is one", async () => {
      expect(await codeOf(`ipfs://${HELLO}`)).to.equal("media_unavailable");
      deps = { ...deps, agent: strict, gateway: { url: base, agent: local } };
      expect(await copy(`ipfs://${HELLO}`)).to.include({ cid: HELLO });
      expect(new Set(asked)).to.deep.equal(new Set([`/ipfs/${HELLO}?format=raw`]));
    });

    it("has the same size limit as other media", async () => {
      await store();
      deps = { ...deps, maxBytes: 10 };
      expect(await codeOf(`ipfs://${HELLO}`)).to.equal("media_too_large");
    });
  });
});
