import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, request as open } from "node:http";
import { join } from "node:path";

import { expect } from "chai";
import { CID } from "multiformats/cid";

import { DEFAULT_LIMITS, UPLOADS } from "../../../api/config/limits.ts";
import { copyMedia } from "../../../api/content/copy/copy-media.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { removeApp } from "../../../api/operate/apps.ts";
import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { readQuotaUse, setQuotas } from "../../../api/store/apps/quotas.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer, startApi, type TestApi } from "../support/api.ts";
import { PNG } from "../../support/pictures.ts";

const LIMIT = 3_000_000;
/** PNG with the chunk that says how many pictures follow. */
const ANIMATED = Buffer.concat([
  PNG.subarray(0, 33),
  Buffer.from("000000086163544c" + "0000000100000000" + "b4d5c2ba", "hex"),
  PNG.subarray(33),
]);

describe("POST /v1/media", () => {
  let api: TestApi;
  const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  beforeEach(async () => {
    api = await startApi({ limits: { ...DEFAULT_LIMITS, mediaBytes: LIMIT } });
  });
  afterEach(() => api.close());
  after(() => agent.destroy());

  function upload(bytes: Uint8Array<ArrayBuffer>, type: string | null = "image/png", token = api.app.token) {
    const headers: Record<string, string> = { "content-type": type ?? "" };
    return api.call("POST", "/v1/media", { raw: bytes, headers, token });
  }

  function fieldsOf(answer: Answer): unknown {
    return (JSON.parse(answer.text) as { errors: unknown }).errors;
  }

  const used = async () => (await readQuotaUse(api.database.read, api.app.id)).media_bytes.used;
  const limit = (bytes: number) => api.database.write((trx) => setQuotas(trx, api.app.id, { media_bytes: bytes }));
  const drafts = () => readdir(join(api.blocksFolder, "drafts")).catch(() => []);

  /** Begins a body that never ends by itself. */
  function begin(token = api.app.token): ClientRequest {
    const headers = { authorization: `Bearer ${token}`, "content-type": "image/png" };
    const call = open(`${api.baseUrl}/v1/media`, { method: "POST", headers });
    call.on("error", () => undefined);
    call.write(PNG);
    return call;
  }

  it("stores the file under the CID that copy_media gives it, and serves it", async () => {
    const answer = await upload(PNG);
    expect(answer.status).to.equal(200);
    const { uri, cid, type, bytes } = JSON.parse(answer.text) as Record<string, unknown>;
    expect({ uri, type, bytes }).to.deep.equal({ uri: `ipfs://${String(cid)}`, type: "image/png", bytes: PNG.length });
    const deps = { blocks: api.blocks, agent, gateway: null, maxBytes: LIMIT, deadline: 60_000 };
    const stop = new AbortController().signal;
    const dataUrl = `data:image/png;base64,${Buffer.from(PNG).toString("base64")}`;
    expect((await copyMedia(deps, { url: dataUrl, use: "image" }, stop)).cid).to.equal(cid);
    // Without a gateway: the content is here.
    expect(await copyMedia(deps, { url: String(uri), use: "image" }, stop)).to.deep.equal({ cid, type, size: bytes });
    const served = await fetch(`${api.baseUrl}/ipfs/${String(cid)}`);
    expect(served.headers.get("content-type")).to.equal("image/png");
    expect(new Uint8Array(await served.arrayBuffer())).to.deep.equal(PNG);
  });

  it("stores a file of several blocks", async () => {
    const bytes = new Uint8Array(2_500_000).fill(7);
    const answer = await upload(bytes, null);
    expect(answer.status).to.equal(200);
    const { cid } = JSON.parse(answer.text) as { cid: string };
    const served = await fetch(`${api.baseUrl}/ipfs/${cid}`);
    expect((await served.arrayBuffer()).byteLength).to.equal(bytes.length);
  });

  it("answers a repeated upload equally, and counts the file once for each app", async () => {
    const first = await upload(PNG);
    const second = await upload(PNG);
    expect(second.text).to.equal(first.text);
    expect(await used()).to.equal(PNG.length);
    expect((await upload(PNG, "image/png", api.other.token)).text).to.equal(first.text);
    const ofOther = await readQuotaUse(api.database.read, api.other.id);
    expect(ofOther.media_bytes.used).to.equal(PNG.length);
  });

  it("keeps the app from being removed", async () => {
    await upload(PNG);
    const { id } = api.app;
    const removal = removeApp(api, { id, name: "first" }).catch((error: unknown) => error);
    expect(await removal).to.be.an.instanceOf(OperatorError);
  });

  it("pins what it stores", async () => {
    const { cid } = JSON.parse((await upload(PNG)).text) as { cid: string };
    const pin = await api.database.read.selectFrom("pins").selectAll().where("cid", "=", cid).executeTakeFirst();
    expect(pin).to.include({ hosted: 1 });
    expect(await api.blocks.has(CID.parse(cid))).to.equal(true);
  });

  describe("given a declared type", () => {
    const accepted = ["image/png", "IMAGE/PNG; q=1", "application/octet-stream", ""];
    for (const type of accepted) {
      it(`accepts a PNG as "${type}"`, async () => {
        expect((await upload(PNG, type)).status).to.equal(200);
      });
    }
    for (const type of ["image/jpeg", "image/svg+xml", "video/mp4", "text/plain", "application/pdf"]) {
      it(`refuses a PNG as "${type}"`, async () => {
        const answer = await upload(PNG, type);
        expect(answer.status).to.equal(422);
        expect(answer.text).to.contain(`Declares ${type}, but the bytes are image/png.`);
        expect(fieldsOf(answer)).to.have.nested.property("[0].field", "Content-Type");
        expect(await drafts()).to.deep.equal([]);
      });
    }
    for (const [name, bytes, types] of [
      ["a PNG", PNG, ["image/x-png", "image/apng"]],
      ["an animated PNG", ANIMATED, ["image/png", "image/apng", "image/vnd.mozilla.apng"]],
      ["a BMP", Buffer.concat([Buffer.from("BM"), Buffer.alloc(60)]), ["image/bmp", "image/x-ms-bmp", "image/x-bmp"]],
      [
        "an icon",
        Buffer.from("000001000100101000000100200068040000160000", "hex"),
        ["image/x-icon", "image/vnd.microsoft.icon", "image/ico"],
      ],
      [
        "an SVG",
        Buffer.from("<svg/>"),
        ["image/svg", "image/svg-xml", "application/svg+xml", "text/xml", "application/xml; charset=utf-8"],
      ],
      [
        "an AVIF in its container",
        Buffer.from("0000001c66747970" + "6d69663100000000" + "6d69616661766966", "hex"),
        ["image/avif", "image/heif"],
      ],
      [
        "a HEIC",
        Buffer.from("0000001866747970" + "6865696d00000000" + "6d69663168656963", "hex"),
        ["image/heic", "image/heif", "image/heic-sequence"],
      ],
      [
        "a HEIF of no known codec",
        Buffer.from("0000001466747970" + "6d69663100000000" + "6d696166", "hex"),
        ["image/heif", "image/heic", "image/avif"],
      ],
      [
        "an MP3",
        Buffer.from("ID3\x04\0\0\0\0\0\0\xff\xfb\x90\x64", "latin1"),
        ["audio/mp3", "audio/x-mp3", "audio/mpeg"],
      ],
      [
        "a WAV",
        Buffer.from("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0", "latin1"),
        ["audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/wav"],
      ],
      [
        "an MP4",
        Buffer.from("000000146674797069736f6d0000000069736f6d", "hex"),
        ["video/mp4", "video/quicktime", "audio/mp4", "application/mp4"],
      ],
      [
        "a glTF",
        Buffer.from('{"asset":{"version":"2.0"},"scenes":[]}'),
        ["model/gltf+json", "application/json", "text/plain"],
      ],
    ] as const) {
      for (const type of types) {
        it(`accepts ${name} as "${type}"`, async () => {
          const answer = await upload(Uint8Array.from(bytes), type);
          expect(answer.status, answer.text).to.equal(200);
        });
      }
    }
    for (const [type, bytes, is] of [
      ["image/avif", "0000001866747970" + "6865696300000000" + "6d69663168656963", "image/heic"],
      ["image/png", Buffer.from("<svg/>").toString("hex"), "image/svg+xml"],
      ["image/svg+xml", Buffer.from("<html><svg/>").toString("hex"), "text/html"],
      ["image/svg+xml", "1f8b0800000000000003", "application/gzip"],
      ["image/png", Buffer.from("GIF87a").toString("hex"), "image/gif"],
    ] as const) {
      it(`refuses ${is} as "${type}"`, async () => {
        const answer = await upload(Uint8Array.from(Buffer.from(bytes, "hex")), type);
        expect(answer.status).to.equal(422);
        expect(answer.text).to.contain(`Declares ${type}, but the bytes are ${is}.`);
      });
    }
    it("accepts JPEG under its other name, and files without a known type", async () => {
      const jpeg = new Uint8Array(Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex"));
      expect((await upload(jpeg, "image/jpg")).status).to.equal(200);
      expect((await upload(new Uint8Array([1, 2, 3, 0]), "model/gltf-binary")).status).to.equal(200);
    });
    for (const type of ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "png"]) {
      it(`refuses the body type "${type}"`, async () => {
        expect((await upload(PNG, type)).status).to.equal(415);
      });
    }
  });

  it("refuses an empty body", async () => {
    const answer = await upload(new Uint8Array(0));
    expect(answer.status).to.equal(422);
    expect(fieldsOf(answer)).to.have.nested.property("[0].field", "body");
  });

  it("refuses a compressed body", async () => {
    const headers = { "content-type": "image/png", "content-encoding": "gzip" };
    expect((await api.call("POST", "/v1/media", { raw: PNG, headers })).status).to.equal(415);
  });

  it("refuses a file above the limit, with and without a declared length, and keeps nothing of it", async () => {
    const large = new Uint8Array(LIMIT + 1);
    const declared = await upload(large, null);
    expect(declared.status).to.equal(413);
    expect(declared.text).to.contain(LIMIT.toString());
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(large.subarray(0, 500_001));
        if ((parts += 1) === 7) controller.close();
      },
    });
    let parts = 0;
    const headers = { authorization: `Bearer ${api.app.token}` };
    const streamed = await fetch(`${api.baseUrl}/v1/media`, {
      ...{ method: "POST", headers, body },
      ...{ duplex: "half" },
    });
    expect(streamed.status).to.equal(413);
    expect(await drafts()).to.deep.equal([]);
    expect(await used()).to.equal(0);
  });

  it("refuses a file above what is left of the app's quota", async () => {
    await limit(PNG.length);
    expect((await upload(PNG)).status).to.equal(200);
    const answer = await upload(new Uint8Array([1]), null);
    expect(answer.status).to.equal(429);
    expect(answer.text).to.contain("quota_exceeded").and.contain("`media_bytes`");
    expect(Number(answer.headers.get("retry-after"))).to.be.above(0);
    expect(await drafts()).to.deep.equal([]);
    expect(await used()).to.equal(PNG.length);
  });

  it("repeats the answer of a stored file although the quota is used up", async () => {
    await limit(PNG.length + 1);
    const first = await upload(PNG);
    expect([first.status, (await upload(PNG)).text]).to.deep.equal([200, first.text]);
    // Not for a file that only another app has stored.
    const ofOther = new Uint8Array(5).fill(7);
    expect((await upload(ofOther, null, api.other.token)).status).to.equal(200);
    expect((await upload(ofOther, null)).status).to.equal(429);
    expect(await used()).to.equal(PNG.length);
  });

  it("never exceeds the quota by uploads at the same time", async () => {
    await limit(25);
    const answers = await Promise.all(
      Array.from({ length: UPLOADS.ofApp }, (_, n) => upload(new Uint8Array(10).fill(n), null)),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(2);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(UPLOADS.ofApp - 2);
    expect(await used()).to.equal(20);
  });

  it("keeps nothing of an upload that breaks off, and frees its place", async () => {
    for (let round = 0; round < UPLOADS.ofApp + 1; round++) {
      const call = begin();
      call.write(new Uint8Array(1_200_000));
      await eventually(async () => ((await drafts()).length > 0 ? true : undefined));
      call.destroy();
      await eventually(async () => ((await drafts()).length === 0 ? true : undefined));
    }
    expect((await upload(PNG)).status).to.equal(200);
  });

  it("gives each app its share of the uploads at the same time", async () => {
    const calls = Array.from({ length: UPLOADS.ofApp }, () => begin());
    const full = await eventually(async () => {
      const answer = await upload(PNG);
      return answer.status === 429 ? answer : undefined;
    });
    expect(full.text).to.contain("rate_limited");
    expect(full.headers.get("retry-after")).to.equal("1");
    expect((await upload(PNG, "image/png", api.other.token)).status).to.equal(200);
    const ended = calls.map((call) => once(call, "response"));
    for (const call of calls) call.end();
    for (const [response] of (await Promise.all(ended)) as [{ statusCode: number }][]) {
      expect(response.statusCode).to.equal(200);
    }
    expect((await upload(PNG)).status).to.equal(200);
  });

  it("answers 503 while blocks cannot be stored, and works again afterwards", async () => {
    const folder = join(api.blocksFolder, "drafts");
    await mkdir(api.blocksFolder, { recursive: true });
    // A file in the place of the folder: writing fails like on a full disk, with an error of the operating system.
    await writeFile(folder, "");
    const answer = await upload(PNG);
    expect(answer.status).to.equal(503);
    expect(Number(answer.headers.get("retry-after"))).to.be.above(0);
    expect(await used()).to.equal(0);
    await rm(folder);
    expect((await upload(PNG)).status).to.equal(200);
  });

  it("answers 503 when the file would not leave enough of the disk free, and reads nothing of it", async () => {
    await api.close();
    api = await startApi({ keepFree: Number.MAX_SAFE_INTEGER });
    // The answer comes although no byte of the file has.
    const headers = { authorization: `Bearer ${api.app.token}`, "content-length": "1000" };
    const call = open(`${api.baseUrl}/v1/media`, { method: "POST", headers });
    call.on("error", () => undefined);
    call.flushHeaders();
    const [answer] = (await once(call, "response")) as [{ statusCode: number; headers: Record<string, string> }];
    expect(answer.statusCode).to.equal(503);
    expect(Number(answer.headers["retry-after"])).to.be.above(0);
    expect(await drafts()).to.deep.equal([]);
    call.destroy();
  });
});
