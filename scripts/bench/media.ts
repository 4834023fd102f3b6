import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as open } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

import { listenOnLoopback } from "../scene/loopback.ts";
import { residentOf, resetPeak } from "../scene/resident.ts";
import type { Figure, Lab } from "./scenario.ts";
import { World } from "./world.ts";

const MIB = 1_048_576;
const SIZE = 200 * MIB;
/** How an MP4 file begins: the service copies pictures and videos only. */
const MP4 = Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "latin1");
const LABEL = 64;
/** Most MiB that the work may add to the memory of the service, however large the files are. */
const MOST = { copies: 300, upload: 150, uploads: 300 };

/**
 * Copies media from a server into the block store, and receives uploads: one file, then several at once, together more than the
 * limit of memory. `MEDIA_STORE` names the place, as for the service.
 */
export async function media(lab: Lab): Promise<Figure[]> {
  const atOnce = lab.quick ? { copies: 4, uploads: 4 } : { copies: 20, uploads: 8 };
  const { url, stop } = await startOrigin();
  const settings = {
    MAX_MEDIA_BYTES: SIZE.toString(),
    MEDIA_SECONDS: "600",
    MEDIA_STORE: process.env["MEDIA_STORE"] ?? "files",
  };
  try {
    return await World.use(lab, { settings }, async (world) => {
      const body = { collection_address: await world.collection({}), to_address: await world.wallet() };
      const mint = (name: string) =>
        world.load.send({ method: "POST", path: "/v1/nfts", body: { ...body, ...pictureAt(`${url}/${name}`) } });
      const copy = async (names: readonly string[], before: number) => {
        await Promise.all(names.map(mint));
        await world.untilCompleted("mint", before + names.length);
      };
      const many = (count: number) =>
        Array.from({ length: count }, (_, index) => `${count.toString()}-${index.toString()}`);
      const send = (names: readonly string[]) => Promise.all(names.map((name) => upload(world, name)));
      const each = async (what: string, work: Work, sets: { names: readonly string[]; atMost: number }[]) => {
        const before = (await residentOf(world.pid))?.now ?? null;
        const figures: Figure[] = [];
        for (const set of sets) figures.push(...(await measure({ pid: world.pid, before, what, work, ...set })));
        return figures;
      };
      let copied = 0;
      const copyMore: Work = async (names) => {
        await copy(names, copied);
        copied += names.length;
      };
      return [
        ...(await each("media copied", copyMore, [
          { names: ["one"], atMost: MOST.copies },
          { names: many(atOnce.copies), atMost: MOST.copies },
        ])),
        ...(await each("media uploaded", send, [
          { names: ["one"], atMost: MOST.upload },
          { names: many(atOnce.uploads), atMost: MOST.uploads },
        ])),
      ];
    });
  } finally {
    await stop();
  }
}

function pictureAt(image: string): object {
  return { name: "Picture", image, copy_media: true };
}

type Work = (names: readonly string[]) => Promise<unknown>;

interface Measured {
  pid: number;
  /** MiB of memory before the first file of the kind; null: this system does not report it. */
  before: number | null;
  what: string;
  names: readonly string[];
  work: Work;
  atMost: number;
}

async function measure({ pid, before, what, names, work, atMost }: Measured): Promise<Figure[]> {
  const label = `${what}, ${names.length.toString()} x ${(SIZE / MIB).toString()} MiB`;
  await resetPeak(pid);
  const started = performance.now();
  await work(names);
  const seconds = (performance.now() - started) / 1_000;
  const peak = (await residentOf(pid))?.peak;
  const added = before === null || peak === undefined ? null : peak - before;
  return [
    { what: label, unit: "MiB/s", value: (names.length * SIZE) / MIB / seconds },
    { what: `${label}: memory added`, unit: "MiB", value: added, atMost },
  ];
}

/** Different bytes for every name, because equal blocks are stored once. */
function* bytesOf(name: string): Generator<Buffer> {
  const noise = randomBytes(MIB);
  for (let sent = 0; sent < SIZE; sent += MIB) {
    const chunk = Buffer.from(noise);
    if (sent === 0) MP4.copy(chunk);
    chunk.write(name.padEnd(LABEL), MP4.length);
    chunk.writeUInt32LE(sent / MIB, MP4.length + LABEL);
    yield chunk;
  }
}

/** The server that media are copied from. */
function startOrigin(): ReturnType<typeof listenOnLoopback> {
  const server = createServer((request, response) => {
    response.setHeader("content-length", SIZE.toString());
    // The service fails the request whose copy is cut off.
    pipeline(Readable.from(bytesOf(request.url ?? ""), { objectMode: true }), response).catch(() => undefined);
  });
  return listenOnLoopback(server);
}

async function upload({ url, token }: World, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-length": SIZE.toString() };
  const call = open(`${url}/v1/media`, { method: "POST", headers });
  const answered = once(call, "response") as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(bytesOf(`upload ${name}`), { objectMode: true }), call);
  const [response] = await answered;
  const body = await text(response);
  if (response.statusCode !== 200 || (JSON.parse(body) as { bytes: number }).bytes !== SIZE) {
    throw new Error(`The upload was answered with ${String(response.statusCode)}: ${body}`);
  }
}
