import { randomUUID } from "node:crypto";

import * as raw from "multiformats/codecs/raw";
import { request } from "undici";

import type { BlockFiles } from "../ipfs/block-files.ts";
import { parseCid } from "../ipfs/cids.ts";
import { walkBlocks } from "../ipfs/content.ts";

/** Milliseconds for one exchange with the operator's own node. */
const TIMEOUT = 60_000;

/**
 * Gives content to a Kubo node, block by block, and has it pinned there.
 * @param rpc the node's RPC address, as the operator set it: nobody else chooses where this connects.
 */
export async function pinAtKubo(rpc: string, blocks: BlockFiles, name: string, stop: AbortSignal): Promise<void> {
  const root = parseCid(name);
  if (root === null) throw new Error(`${name} is no CID of stored content`);
  for await (const { cid, bytes } of walkBlocks(blocks, root, new Set())) {
    const codec = cid.code === raw.code ? "raw" : "dag-pb";
    const url = `${rpc}/api/v0/block/put?cid-codec=${codec}&mhtype=sha2-256`;
    const answer = (await ask(url, bytes, stop)) as { Key?: string };
    const key = parseCid(answer.Key ?? "");
    if (key === null || !key.toV1().equals(cid.toV1()))
      throw new Error(`the IPFS node stored ${cid.toString()} under another name`);
  }
  await ask(`${rpc}/api/v0/pin/add?arg=${root.toString()}&recursive=true`, null, stop);
}

/** @param file sent as the one part of a form, which is how Kubo takes files. */
async function ask(url: string, file: Uint8Array | null, stop: AbortSignal): Promise<unknown> {
  const boundary = `moneta-${randomUUID()}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="data"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const response = await request(url, {
    method: "POST",
    headers: file === null ? {} : { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: file === null ? null : Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT)]),
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`the IPFS node answered ${response.statusCode.toString()}`);
  return JSON.parse(text) as unknown;
}
