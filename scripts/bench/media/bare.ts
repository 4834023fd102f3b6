import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { request } from "undici";

import { listenOnLoopback } from "../../scene/loopback.ts";
import { answerOrders } from "./child.ts";
import { MIB } from "./content.ts";

/**
 * The baseline: writes the same bytes to a plain file, with the SHA-256 of each MiB (the hash of a block's CID), and waits
 * for the disk. It copies from a server, and receives uploads. Argument: the folder for its files.
 */
export type BareOrder =
  /** @returns the port at which it receives uploads. */
  | { port: true }
  /** @returns seconds. All URLs are copied at once, each into a file of the same index. */
  | { copy: string[] }
  /** Reads the first file. @returns seconds. */
  | { read: true }
  /** Removes that many files. */
  | { remove: number };

const folder = process.argv[2] ?? "";

let uploads = 0;
const server = createServer((incoming, response) => {
  const file = join(folder, `bare-upload-${(uploads++).toString()}`);
  store(incoming, file)
    .then(async (bytes) => {
      response.end(JSON.stringify({ bytes }));
      await rm(file);
    })
    .catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
});
const { port, stop } = await listenOnLoopback(server);

answerOrders(async (order: BareOrder) => {
  if ("port" in order) return port;
  const started = performance.now();
  if ("copy" in order) await Promise.all(order.copy.map((url, index) => copy(url, fileAt(index))));
  else if ("read" in order) await readFirst();
  else for (let index = 0; index < order.remove; index++) await rm(fileAt(index));
  return { seconds: (performance.now() - started) / 1000 };
}, stop);

function fileAt(index: number): string {
  return join(folder, `bare-${index.toString()}`);
}

async function copy(url: string, file: string): Promise<void> {
  const { body } = await request(url);
  await store(body, file);
}

/** @returns how many bytes were stored. */
async function store(bytes: Readable, file: string): Promise<number> {
  const handle = await open(file, "w");
  try {
    const hashes: Buffer[] = [];
    let [hash, inBlock, stored] = [createHash("sha256"), 0, 0];
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      for (let start = 0; start < chunk.length;) {
        const part = chunk.subarray(start, start + MIB - inBlock);
        hash.update(part);
        start += part.length;
        inBlock += part.length;
        if (inBlock < MIB) continue;
        hashes.push(hash.digest());
        [hash, inBlock] = [createHash("sha256"), 0];
      }
      await handle.writeFile(chunk);
      stored += chunk.length;
    }
    createHash("sha256").update(Buffer.concat(hashes)).digest();
    await handle.sync();
    return stored;
  } finally {
    await handle.close();
  }
}

async function readFirst(): Promise<void> {
  let read = 0;
  for await (const chunk of createReadStream(fileAt(0), { highWaterMark: MIB }) as AsyncIterable<Buffer>) {
    read += chunk.length;
  }
  if (read === 0) throw new Error("the file is empty");
}
