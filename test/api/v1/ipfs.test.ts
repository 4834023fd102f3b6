import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { CID as CidOf, type CID } from "multiformats/cid";
import * as raw from "multiformats/codecs/raw";
import { create as createDigest } from "multiformats/hashes/digest";
import { sha256 } from "multiformats/hashes/sha2";

import { readRange } from "../../../api/v1/ipfs/range.ts";
import { importContent, importDirectory, walkBlocks } from "../../../api/ipfs/content.ts";
import { insertMedia } from "../../../api/store/media/media.ts";
import { collect } from "../../support/collect.ts";
import { conformanceOf } from "../../support/conformance.ts";
import { type TestApi, startApi } from "../support/api.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

describe("GET /ipfs", () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.close());

  const add = async (content: string | Uint8Array): Promise<CID> =>
    (
      await importContent(
        api.blocks,
        (async function* () {
          await Promise.resolve();
          yield Buffer.from(content);
        })(),
      )
    ).cid;
  const fetchUnchecked = (path: string) => fetch(`${api.baseUrl}/ipfs/${path}`);
  // Bytes, not JSON: past the helper that reads answers of the API, but not past the document.
  const fetchRaw = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${api.baseUrl}/ipfs/${path}`, init);
    const text = await answer.clone().text();
    const { status, headers } = answer;
    const conformance = await conformanceOf(api.baseUrl);
    conformance.check({ method: init.method ?? "GET", path: `/ipfs/${path}`, status, headers, text });
    return answer;
  };
  const refusal = async (response: Response) => [
    response.status,
    ((await response.json()) as { error_code: string }).error_code,
  ];

  it("serves what is hosted, to anybody, for ever", async () => {
    const cid = await add("Hello, world");
    const answer = await fetchRaw(cid.toString());
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
    const again = await fetchRaw(cid.toString(), { headers: { "if-none-match": `"${cid.toString()}"` } });
    expect([again.status, await again.text()]).to.deep.equal([304, ""]);
    const preflight = await fetchRaw(cid.toString(), { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).to.deep.equal([204, "GET, HEAD"]);
  });

  it("answers HEAD with everything but the content", async () => {
    const cid = await add("Hello, world");
    const answer = await fetchRaw(cid.toString(), { method: "HEAD" });
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).to.deep.equal([200, "12", ""]);
  });

  it("sends the parts that are asked for", async () => {
    const cid = await add("0123456789");
    for (const [range, status, text, contentRange] of [
      ["bytes=2-4", 206, "234", "bytes 2-4/10"],
      ["bytes=7-", 206, "789", "bytes 7-9/10"],
      ["bytes=-2", 206, "89", "bytes 8-9/10"],
      ["bytes=8-100", 206, "89", "bytes 8-9/10"],
      ["bytes=0-1,4-5", 200, "0123456789", null],
      ["lines=1-2", 200, "0123456789", null],
    ] as const) {
      const answer = await fetchRaw(cid.toString(), { headers: { range } });
      expect([answer.status, await answer.text(), answer.headers.get("content-range")], range).to.deep.equal([
        status,
        text,
        contentRange,
      ]);
    }
    for (const range of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
      const answer = await fetchRaw(cid.toString(), { headers: { range } });
      expect(answer.headers.get("content-range"), range).to.equal("bytes */10");
      expect([answer.headers.get("etag"), answer.headers.get("cache-control")]).to.deep.equal([null, "no-store"]);
      expect(await refusal(answer), range).to.deep.equal([416, "range_not_satisfiable"]);
    }
    const other = await fetchRaw(cid.toString(), { headers: { range: "bytes=0-1", "if-range": '"another"' } });
    expect([other.status, await other.text()]).to.deep.equal([200, "0123456789"]);
    const same = await fetchRaw(cid.toString(), { headers: { range: "bytes=0-1", "if-range": `"${cid.toString()}"` } });
    expect([same.status, await same.text()]).to.deep.equal([206, "01"]);
  });

  it("sends parts of large content, across its blocks", async () => {
    const large = Buffer.alloc(3_000_000, "abcdefghijk");
    const cid = await add(large);
    const answer = await fetchRaw(cid.toString(), { headers: { range: "bytes=1048570-2097160" } });
    expect(Buffer.from(await answer.arrayBuffer()).equals(large.subarray(1_048_570, 2_097_161))).to.equal(true);
  });

  it("serves what is empty", async () => {
    const cid = await add("");
    const answer = await fetchRaw(cid.toString());
    expect([answer.status, answer.headers.get("content-length"), await answer.text()]).to.deep.equal([200, "0", ""]);
    expect((await fetchRaw(cid.toString(), { headers: { range: "bytes=0-0" } })).status).to.equal(416);
  });

  it("has nothing under a path below a file", async () => {
    const [small, large] = [await add("x"), await add(Buffer.alloc(2_000_000))];
    for (const path of [`${small.toString()}/x`, `${large.toString()}/x`, `${large.toString()}/x/y`]) {
      expect(await refusal(await fetchRaw(path)), path).to.deep.equal([404, "not_found"]);
    }
  });

  it("keeps the type that was told on arrival", async () => {
    const cid = await add("some special text");
    await api.database.write((trx) => insertMedia(trx, { cid: cid.toString(), type: "model/gltf+json", size: 17 }, 1));
    expect((await fetchRaw(cid.toString())).headers.get("content-type")).to.equal("model/gltf+json");
  });

  it("lets nothing of a stranger's run on its origin", async () => {
    for (const [content, type, disposition] of [
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
      const answer = await fetchRaw((await add(content)).toString());
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

  it("serves files of a directory under their paths", async () => {
    const cid = await importDirectory(
      api.blocks,
      (async function* () {
        await Promise.resolve();
        yield { path: "1", content: Buffer.from('{"name":"one"}') };
        yield { path: "images/cat.svg", content: Buffer.from(SVG) };
      })(),
    );
    const token = await fetchRaw(`${cid.toString()}/1`);
    expect([token.headers.get("content-type"), await token.json()]).to.deep.equal([
      "application/json",
      { name: "one" },
    ]);
    expect((await fetchRaw(`${cid.toString()}/images/cat.svg`)).headers.get("content-type")).to.equal("image/svg+xml");
    const svg = `${cid.toString()}/images/cat.svg`;
    // As clients made from the document would write it.
    expect(await (await fetchRaw(`${cid.toString()}/images%2Fcat.svg`)).text()).to.equal(SVG);
    for (const [init, status, text] of [
      [{}, 200, SVG],
      [{ method: "HEAD" }, 200, ""],
      [{ headers: { range: "bytes=0-3" } }, 206, "<svg"],
      [{ headers: { range: "bytes=9999-" } }, 416, /range_not_satisfiable/],
      [{ method: "OPTIONS" }, 204, ""],
      [{ method: "PUT" }, 405, /method_not_allowed/],
    ] as const) {
      const answer = await fetchRaw(svg, init);
      expect(answer.status).to.equal(status);
      if (typeof text === "string") expect(await answer.text()).to.equal(text);
      else expect(await answer.text()).to.match(text);
    }
    for (const path of ["", "/", "/2", "/images", "/images/dog.svg", "/1/2"]) {
      expect(await refusal(await fetchRaw(cid.toString() + path)), path).to.deep.equal([404, "not_found"]);
    }
  });

  it("is in the document with its paths, however deep, and with HEAD", async () => {
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

  it("does not know anything else", async () => {
    for (const path of [
      "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
      "bafkqadtimvwgy3zao5xxe3debi",
      "cats",
      "..%2f..%2fseed.jwe",
      "",
    ]) {
      const answer = await fetchRaw(path);
      expect(answer.headers.get("cache-control"), path).to.equal("no-store");
      expect(await refusal(answer), path).to.deep.equal([404, "not_found"]);
    }
    const post = await fetchRaw((await add("x")).toString(), { method: "POST" });
    expect(post.headers.get("allow")).to.equal("GET, HEAD, OPTIONS");
    expect(await refusal(post)).to.deep.equal([405, "method_not_allowed"]);
  });

  it("is not upset by names that are none", async () => {
    const bytes = Buffer.from("hello");
    const { digest } = await sha256.digest(bytes);
    const long = CidOf.createV1(raw.code, createDigest(sha256.code, new Uint8Array(190).fill(7)));
    const short = CidOf.createV1(raw.code, createDigest(sha256.code, digest.subarray(0, 20)));
    const cid = await add(bytes);
    // Where there are many blocks there are all folders.
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
          const answer = await fetchRaw(path, { method });
          expect(answer.status, `${method} ${path}`).to.equal(404);
          expect(answer.headers.get("cache-control")).to.equal("no-store");
        }
      }
    }
    // The same name, written in another way.
    const escaped = cid.toString().replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    for (const path of [escaped, `${cid.toString()}/`]) expect(await (await fetchRaw(path)).text()).to.equal("hello");
  });

  it("breaks off a part in which a block is corrupt, and sends those in which none is", async () => {
    const cid = await add(Buffer.alloc(3_000_000, "range"));
    const [, , second = ""] = (await collect(walkBlocks(api.blocks, cid, new Set()))).map((block) =>
      block.cid.toString(),
    );
    await writeFile(join(api.blocksFolder, second.slice(-3, -1), second), "something else");
    const part = (range: string) => fetch(`${api.baseUrl}/ipfs/${cid.toString()}`, { headers: { range } });
    const broken = await part("bytes=1000000-1100000");
    expect([broken.status, broken.headers.get("content-length")]).to.deep.equal([206, "100001"]);
    expect(await broken.arrayBuffer().catch(() => "broken off")).to.equal("broken off");
    expect(await refusal(await part("bytes=1048576-1048580"))).to.deep.equal([503, "unavailable"]);
    for (const range of ["bytes=0-9", "bytes=2097152-2097161"]) {
      const whole = await part(range);
      expect([whole.status, (await whole.arrayBuffer()).byteLength]).to.deep.equal([206, 10]);
    }
  });

  it("does not send a corrupt block, says so, and names it in the log", async () => {
    const large = Buffer.alloc(2_000_000, "xyz");
    const cid = await add(large);
    const [, first = "", second = ""] = (await collect(walkBlocks(api.blocks, cid, new Set()))).map((block) =>
      block.cid.toString(),
    );
    const damage = (name: string) => writeFile(join(api.blocksFolder, name.slice(-3, -1), name), "something else");
    // The second block: the connection breaks off in the middle.
    await damage(second);
    const broken = await fetchUnchecked(cid.toString());
    expect(broken.status).to.equal(200);
    expect(
      await broken.arrayBuffer().then(
        () => "complete",
        () => "broken off",
      ),
    ).to.equal("broken off");
    expect(api.log.join("")).to.contain(second);
    // The first block: nothing was sent yet.
    await damage(first);
    const answer = await fetchRaw(cid.toString());
    expect(answer.headers.get("retry-after")).to.equal("60");
    // An error is no content: nothing says that it would stay so, or what the content would have been.
    expect(answer.headers.get("cache-control")).to.equal("no-store");
    for (const name of ["etag", "accept-ranges", "content-range", "content-disposition"]) {
      expect(answer.headers.get(name), name).to.equal(null);
    }
    expect(await refusal(answer)).to.deep.equal([503, "unavailable"]);
    expect(api.log.join("")).to.contain(first);
  });
});

describe("readRange", () => {
  it("leaves aside what it does not understand", () => {
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
      expect(readRange(header, 10), header).to.equal(null);
    }
    expect(readRange("bytes=0-", 0)).to.equal("unsatisfiable");
  });
});
