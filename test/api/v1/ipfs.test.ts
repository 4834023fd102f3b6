import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { create as createDigest } from "multiformats/hashes/digest";
import { sha256 } from "multiformats/hashes/sha2";

import { importDirectory } from "../../../api/content/content.ts";
import { insertMedia } from "../../../api/store/media/media.ts";
import { conformanceOf } from "../../support/conformance.ts";
import { HostedContent, refusalOf } from "../support/hosted-content.ts";
import { useApi } from "../support/use-api.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

describe("GET /ipfs", () => {
  const api = useApi();
  let content: HostedContent;
  before(async () => {
    content = new HostedContent(api);
  });

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
    const again = await content.fetch(cid.toString(), { headers: { "if-none-match": `"${cid.toString()}"` } });
    expect([again.status, await again.text()]).to.deep.equal([304, ""]);
    const preflight = await content.fetch(cid.toString(), { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).to.deep.equal([204, "GET, HEAD"]);
  });

  it("answers HEAD with the headers only", async () => {
    const cid = await content.add("Hello, world");
    const answer = await content.fetch(cid.toString(), { method: "HEAD" });
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).to.deep.equal([200, "12", ""]);
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
      ["<?xml version='1.0'?><x:svg xmlns:x='http://www.w3.org/2000/svg'/>", "application/xml", "attachment"],
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

  it("answers 404 for anything else", async () => {
    for (const path of [
      "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
      "bafkqadtimvwgy3zao5xxe3debi",
      "cats",
      "..%2f..%2fseed.jwe",
      "",
    ]) {
      const answer = await content.fetch(path);
      expect(answer.headers.get("cache-control"), path).to.equal("no-store");
      expect(await refusalOf(answer), path).to.deep.equal([404, "not_found"]);
    }
    const post = await content.fetch((await content.add("x")).toString(), { method: "POST" });
    expect(post.headers.get("allow")).to.equal("GET, HEAD, OPTIONS");
    expect(await refusalOf(post)).to.deep.equal([405, "method_not_allowed"]);
  });

  it("answers 404 for malformed CIDs and paths", async () => {
    const bytes = Buffer.from("hello");
    const { digest } = await sha256.digest(bytes);
    const long = CID.createV1(raw.code, createDigest(sha256.code, new Uint8Array(190).fill(7)));
    const short = CID.createV1(raw.code, createDigest(sha256.code, digest.subarray(0, 20)));
    const cid = await content.add(bytes);
    // With many blocks, every folder exists.
    await mkdir(join(api.blocksFolder, long.toString().slice(-3, -1)), { recursive: true });
    for (const name of [
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
          expect(answer.headers.get("cache-control")).to.equal("no-store");
        }
      }
    }
    // The same name, written in another way.
    const escaped = cid.toString().replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    for (const path of [escaped, `${cid.toString()}/`])
      expect(await (await content.fetch(path)).text()).to.equal("hello");
  });
});
