import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { create as createDigest } from "multiformats/hashes/digest";
import { sha256 } from "multiformats/hashes/sha2";

import { importDirectory, walkBlocks } from "../../../api/content/content.ts";
import { insertMedia } from "../../../api/store/media/media.ts";
import { conformanceOf } from "../../support/conformance.ts";
import { HostedContent, refusalOf } from "../support/hosted-content.ts";
import { useApi } from "../support/use-api.ts";
import { readRangeHeader } from "../../../api/v1/public/ipfs.ts";
import { collect } from "../../support/collect.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

describe("GET /ipfs", () => {
  const api = useApi({ per: "block" });
  const content = new HostedContent(api);

  it("serves hosted content to anybody, cacheable forever", async () => {
    const cid = await content.add("Hello, world");
    const answer = await content.fetch(cid.toString());
    expect([answer.status, await answer.text()]).to.deep.equal([200, "Hello, world"]);
    expect(Object.fromEntries(answer.headers)).to.include({
      etag: `"${cid.toString()}"`,
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/plain; charset=utf-8",
      "content-length": "12",
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    });
    const head = await content.fetch(cid.toString(), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).to.deep.equal([200, "12", ""]);
    const again = await content.fetch(cid.toString(), { headers: { "if-none-match": `"${cid.toString()}"` } });
    expect([again.status, await again.text()]).to.deep.equal([304, ""]);
    const preflight = await content.fetch(cid.toString(), { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).to.deep.equal([204, "GET, HEAD"]);
  });

  it("serves empty content", async () => {
    const cid = await content.add("");
    const answer = await content.fetch(cid.toString());
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).to.deep.equal([200, "0", ""]);
    expect((await content.fetch(cid.toString(), { headers: { range: "bytes=0-0" } })).status).to.equal(416);
  });

  it("answers 404 for a path below a file", async () => {
    const [small, large] = [await content.add("x"), await content.add(Buffer.alloc(2_000_000))];
    for (const path of [`${small.toString()}/x`, `${large.toString()}/x`, `${large.toString()}/x/y`]) {
      expect(await refusalOf(await content.fetch(path)), path).to.deep.equal([404, "not_found"]);
    }
  });

  it("uses the media type that was stored on arrival", async () => {
    const cid = await content.add("some special text");
    await api.database.write((trx) =>
      insertMedia(trx, [{ cid: cid.toString(), type: "model/gltf+json", size: 17 }], 1),
    );
    expect((await content.fetch(cid.toString())).headers.get("content-type")).to.equal("model/gltf+json");
  });

  it("lets no hosted content run on its origin", async () => {
    for (const [text, type, disposition] of [
      [SVG, "image/svg+xml", null],
      ["<html><script>alert(1)</script></html>", "text/html", "attachment"],
      ["<?xml version='1.0'?><feed/>", "application/xml", "attachment"],
      ["<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><script/></html>", "text/html", "attachment"],
      ["<?xml version='1.0'?><x:svg xmlns:x='http://www.w3.org/2000/svg'/>", "image/svg+xml", null],
      ["GIF89a/*<script>alert(1)</script>*/=1", "image/gif", null],
      ["%PDF-1.7 <html><script>alert(1)</script>", "application/pdf", "attachment"],
      ["hello <script>alert(1)</script>", "text/html", "attachment"],
      ["\u0000\u0001<script>alert(1)</script>", "application/octet-stream", "attachment"],
      ["%PDF-1.7", "application/pdf", "attachment"],
      ["alert(1)", "text/plain; charset=utf-8", null],
    ] as const) {
      const answer = await content.fetch((await content.add(text)).toString());
      expect([answer.headers.get("content-type"), answer.headers.get("content-disposition")]).to.deep.equal([
        type,
        disposition,
      ]);
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).to.match(/(^|; )default-src 'none'(;|$)/);
      expect(policy).to.match(/(^|; )sandbox(;|$)/);
      expect(policy).to.not.contain("allow-");
      expect(answer.headers.get("x-content-type-options")).to.equal("nosniff");
    }
  });

  it("serves the files of a directory by path", async () => {
    const cid = await importDirectory(
      api.blocks,
      (async function* () {
        await Promise.resolve();
        yield { path: "1", content: Buffer.from('{"name":"one"}') };
        yield { path: "images/cat.svg", content: Buffer.from(SVG) };
      })(),
    );
    const token = await content.fetch(`${cid.toString()}/1`);
    expect([token.headers.get("content-type"), await token.json()]).to.deep.equal([
      "application/json",
      { name: "one" },
    ]);
    expect((await content.fetch(`${cid.toString()}/images/cat.svg`)).headers.get("content-type")).to.equal(
      "image/svg+xml",
    );
    const svg = `${cid.toString()}/images/cat.svg`;
    // As clients made from the document would write it.
    expect(await (await content.fetch(`${cid.toString()}/images%2Fcat.svg`)).text()).to.equal(SVG);
    for (const [init, status, text] of [
      [{}, 200, SVG],
      [{ method: "HEAD" }, 200, ""],
      [{ headers: { range: "bytes=0-3" } }, 206, "<svg"],
      [{ headers: { range: "bytes=9999-" } }, 416, /range_not_satisfiable/],
      [{ method: "OPTIONS" }, 204, ""],
      [{ method: "PUT" }, 405, /method_not_allowed/],
    ] as const) {
      const answer = await content.fetch(svg, init);
      expect(answer.status).to.equal(status);
      if (typeof text === "string") expect(await answer.text()).to.equal(text);
      else expect(await answer.text()).to.match(text);
    }
    for (const path of ["", "/", "/2", "/images", "/images/dog.svg", "/1/2"]) {
      expect(await refusalOf(await content.fetch(cid.toString() + path)), path).to.deep.equal([404, "not_found"]);
    }
  });

  it("is documented with paths of any depth, and with HEAD", async () => {
    const conformance = await conformanceOf(api.baseUrl);
    for (const [method, path, template] of [
      ["GET", "/ipfs/bafy", "/ipfs/{cid}"],
      ["HEAD", "/ipfs/bafy", "/ipfs/{cid}"],
      ["GET", "/ipfs/bafy/1", "/ipfs/{cid}/{path}"],
      ["GET", "/ipfs/bafy/a/b/c.png", "/ipfs/{cid}/{path}"],
      ["HEAD", "/ipfs/bafy/a/b/c.png", "/ipfs/{cid}/{path}"],
      ["OPTIONS", "/ipfs/bafy/a/b/c.png", "/ipfs/{cid}/{path}"],
    ] as const) {
      const found = conformance.find(path, method);
      expect(found?.template, `${method} ${path}`).to.equal(template);
      expect(found?.operation, `${method} ${path}`).to.equal(
        conformance.document.paths[template]?.[method.toLowerCase()],
      );
      expect(found?.operation, `${method} ${path}`).to.not.equal(undefined);
    }
  });

  it("answers 404 for content that is not here, malformed CIDs and paths", async () => {
    const bytes = Buffer.from("hello");
    const { digest } = await sha256.digest(bytes);
    const long = CID.createV1(raw.code, createDigest(sha256.code, new Uint8Array(190).fill(7)));
    const short = CID.createV1(raw.code, createDigest(sha256.code, digest.subarray(0, 20)));
    const cid = await content.add(bytes);
    // With many blocks, every folder exists.
    await mkdir(join(api.blocksFolder, long.toString().slice(-3, -1)), { recursive: true });
    for (const name of [
      "",
      "cats",
      "..%2f..%2fseed.jwe",
      "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
      // The content is in the CID.
      "bafkqadtimvwgy3zao5xxe3debi",
      long.toString(),
      short.toString(),
      "b".repeat(399),
      "b".repeat(10_000),
      "%00",
      "%2e%2e%2fseed.jwe",
      "..%5c..%5cseed.jwe",
      `${cid.toString()}%00`,
      `${cid.toString()}.json`,
      "drafts",
      "aside",
    ]) {
      for (const method of ["GET", "HEAD"]) {
        for (const path of [name, `${name}/..%2f..%2fseed.jwe`]) {
          const answer = await content.fetch(path, { method });
          expect(answer.status, `${method} ${path}`).to.equal(404);
          expect(answer.headers.get("cache-control"), `${method} ${path}`).to.equal("no-store");
          if (method === "GET") expect(await refusalOf(answer), path).to.deep.equal([404, "not_found"]);
        }
      }
    }
    // The same name, written in another way.
    const escaped = cid.toString().replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    for (const path of [escaped, `${cid.toString()}/`])
      expect(await (await content.fetch(path)).text()).to.equal("hello");
  });

  describe("with Range", () => {
    it("serves one range, and ignores ranges that RFC 9110 lets servers ignore", async () => {
      const cid = await content.add("0123456789");
      for (const [range, status, text, contentRange] of [
        ["bytes=2-4", 206, "234", "bytes 2-4/10"],
        ["bytes=7-", 206, "789", "bytes 7-9/10"],
        ["bytes=-2", 206, "89", "bytes 8-9/10"],
        ["bytes=8-100", 206, "89", "bytes 8-9/10"],
        ["bytes=-20", 206, "0123456789", "bytes 0-9/10"],
        ["bytes=0-1,4-5", 200, "0123456789", null],
        ["bytes=0-1,50-60", 200, "0123456789", null],
        ["bytes=5-2", 200, "0123456789", null],
        ["lines=1-2", 200, "0123456789", null],
        ["lines=20-30", 200, "0123456789", null],
      ] as const) {
        const answer = await content.fetch(cid.toString(), { headers: { range } });
        expect([answer.status, await answer.text(), answer.headers.get("content-range")], range).to.deep.equal([
          status,
          text,
          contentRange,
        ]);
      }
      for (const range of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
        const answer = await content.fetch(cid.toString(), { headers: { range } });
        expect(answer.headers.get("content-range"), range).to.equal("bytes */10");
        expect([answer.headers.get("etag"), answer.headers.get("cache-control")]).to.deep.equal([null, "no-store"]);
        expect(await refusalOf(answer), range).to.deep.equal([416, "range_not_satisfiable"]);
      }
      const other = await content.fetch(cid.toString(), { headers: { range: "bytes=0-1", "if-range": '"another"' } });
      expect([other.status, await other.text()]).to.deep.equal([200, "0123456789"]);
      const same = await content.fetch(cid.toString(), {
        headers: { range: "bytes=0-1", "if-range": `"${cid.toString()}"` },
      });
      expect([same.status, await same.text()]).to.deep.equal([206, "01"]);
    });

    it("serves a range across blocks", async () => {
      const large = Buffer.alloc(3_000_000, "abcdefghijk");
      const cid = await content.add(large);
      const answer = await content.fetch(cid.toString(), { headers: { range: "bytes=1048570-2097160" } });
      expect(Buffer.from(await answer.arrayBuffer()).equals(large.subarray(1_048_570, 2_097_161))).to.equal(true);
    });
  });

  describe("given corrupt blocks", () => {
    const blocksOf = async (cid: CID) =>
      (await collect(walkBlocks(api.blocks, cid, new Set()))).map((block) => block.cid.toString());
    const damage = (name: string) => writeFile(join(api.blocksFolder, name.slice(-3, -1), name), "something else");

    it("aborts a range that has a corrupt block, and serves the other ranges", async () => {
      const cid = await content.add(Buffer.alloc(3_000_000, "range"));
      const [, , second = ""] = await blocksOf(cid);
      await damage(second);
      const part = (range: string) => fetch(`${api.baseUrl}/ipfs/${cid.toString()}`, { headers: { range } });
      const broken = await part("bytes=1000000-1100000");
      expect([broken.status, broken.headers.get("content-length")]).to.deep.equal([206, "100001"]);
      expect(await broken.arrayBuffer().catch(() => "broken off")).to.equal("broken off");
      expect(await refusalOf(await part("bytes=1048576-1048580"))).to.deep.equal([503, "unavailable"]);
      for (const range of ["bytes=0-9", "bytes=2097152-2097161"]) {
        const whole = await part(range);
        expect([whole.status, (await whole.arrayBuffer()).byteLength]).to.deep.equal([206, 10]);
      }
    });

    it("never sends a corrupt block, answers 503 where it can, and logs the block", async () => {
      const cid = await content.add(Buffer.alloc(2_000_000, "xyz"));
      const [, , second = ""] = await blocksOf(cid);
      // The second block is corrupt, so the connection is closed in the middle.
      await damage(second);
      const broken = await content.fetchUnchecked(cid.toString());
      expect(broken.status).to.equal(200);
      expect(await broken.arrayBuffer().catch(() => "broken off")).to.equal("broken off");
      expect(api.log.join("")).to.contain(second);
      // The first block is corrupt, so nothing was sent yet. It is another file, because the service keeps blocks in memory.
      const other = await content.add(Buffer.alloc(2_000_000, "abc"));
      const [, first = ""] = await blocksOf(other);
      await damage(first);
      const answer = await content.fetch(other.toString());
      expect(answer.headers.get("retry-after")).to.equal("60");
      // An error is not content, so it has no headers about caching, tags or ranges.
      expect(answer.headers.get("cache-control")).to.equal("no-store");
      for (const name of ["etag", "accept-ranges", "content-range", "content-disposition"]) {
        expect(answer.headers.get(name), name).to.equal(null);
      }
      expect(await refusalOf(answer)).to.deep.equal([503, "unavailable"]);
      expect(api.log.join("")).to.contain(first);
    });
  });
});

describe("readRangeHeader", () => {
  it("ignores invalid headers", () => {
    for (const header of [
      undefined,
      "",
      "bytes=",
      "bytes=-",
      "bytes=a-b",
      "bytes=5-2",
      "bytes=1-2-3",
      `bytes=${"9".repeat(17)}-`,
    ]) {
      expect(readRangeHeader(header, 10), header).to.equal(null);
    }
    expect(readRangeHeader("bytes=0-", 0)).to.equal("unsatisfiable");
  });
});
