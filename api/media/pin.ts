import { randomUUID } from "node:crypto";

import * as raw from "multiformats/codecs/raw";
import { request } from "undici";
import { z } from "zod";

import type { BlockStore } from "../ipfs/block-store.ts";
import { parseCid } from "../ipfs/cids.ts";
import { isDamage, walkBlocks } from "../ipfs/content.ts";

/** Milliseconds for one call to the operator's Kubo node. Pinning takes longer: the node reads all the content. */
const PUT_TIMEOUT = 60_000;
const PIN_TIMEOUT = 600_000;
/** Most bytes of an answer. Kubo answers a CID or a sentence. */
const MAX_ANSWER = 65_536;
/** Most characters of the node's error message. */
const MAX_MESSAGE = 200;

/** Part of Kubo's error message when there is no pin to remove ("not pinned or pinned indirectly"). It has no error code. */
const NOT_PINNED = "not pinned";

const PUT_ANSWER = z.object({ Key: z.string() });
const PIN_ANSWER = z.object({ Pins: z.array(z.string()) });
const ERROR_ANSWER = z.object({ Message: z.string() });

/** The server at the RPC address did not do what Kubo does. */
class KuboError extends Error {
  override readonly name = "KuboError";
}

/**
 * Uploads content to a Kubo node, block by block, and pins it there.
 * @param rpc the node's RPC address. It comes from the operator's settings and is never influenced by users.
 */
export async function pinAtKubo(rpc: string, blocks: BlockStore, name: string, stop: AbortSignal): Promise<void> {
  const root = parseCid(name);
  if (root === null) throw new Error(`${name} is not the CID of stored content`);
  for await (const { cid, bytes } of walkBlocks(blocks, root, new Set())) {
    const codec = cid.code === raw.code ? "raw" : "dag-pb";
    const url = `${rpc}/api/v0/block/put?cid-codec=${codec}&mhtype=sha2-256`;
    const { Key } = read(PUT_ANSWER, await call(url, bytes, stop, PUT_TIMEOUT));
    if (parseCid(Key)?.toV1().equals(cid.toV1()) !== true)
      throw new KuboError(`the IPFS node stored the block ${cid.toString()} under another CID`);
  }
  const { Pins } = read(
    PIN_ANSWER,
    await call(`${rpc}/api/v0/pin/add?arg=${root.toString()}&recursive=true`, null, stop, PIN_TIMEOUT),
  );
  if (!namesContent(Pins, name)) throw new KuboError(`the IPFS node did not pin ${root.toString()}`);
}

/** Removes the pin of content at a Kubo node. Its garbage collection then deletes the blocks that no other pin needs. */
export async function unpinAtKubo(rpc: string, name: string, stop: AbortSignal): Promise<void> {
  try {
    const url = `${rpc}/api/v0/pin/rm?arg=${name}&recursive=true`;
    const { Pins } = read(PIN_ANSWER, await call(url, null, stop, PUT_TIMEOUT));
    if (!namesContent(Pins, name)) throw new KuboError(`the IPFS node did not remove the pin of ${name}`);
  } catch (error) {
    if (!(error instanceof KuboError && error.message.includes(NOT_PINNED))) throw error;
  }
}

function namesContent(pins: string[], name: string): boolean {
  const cid = parseCid(name);
  return cid !== null && pins.some((pin) => parseCid(pin)?.toV1().equals(cid.toV1()) === true);
}

/** Says to the operator why content could not be pinned. */
export function describePinError(error: unknown): string {
  if (error instanceof KuboError || isDamage(error)) return (error as Error).message;
  if (!(error instanceof Error)) return "unknown error";
  if (error.name === "TimeoutError") return "the IPFS node did not answer in time";
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : error.message;
}

/** @param file sent as the only part of a multipart form, as Kubo expects. */
async function call(url: string, file: Uint8Array | null, stop: AbortSignal, timeout: number): Promise<unknown> {
  const boundary = `moneta-${randomUUID()}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="data"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const response = await request(url, {
    method: "POST",
    headers: file === null ? {} : { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: file === null ? null : Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    signal: AbortSignal.any([stop, AbortSignal.timeout(timeout)]),
    // The signal enforces the timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const answer = parse(await text(response.body));
  if (response.statusCode === 200) return answer;
  const message = ERROR_ANSWER.safeParse(answer).data?.Message.slice(0, MAX_MESSAGE);
  const status = `the IPFS node answered ${response.statusCode.toString()}`;
  throw new KuboError(message === undefined ? status : `${status}: ${message}`);
}

/** Limited, because the server at the address may be anything. */
async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MAX_ANSWER) throw notKubo();
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** @returns undefined when it is not JSON. */
function parse(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const result = schema.safeParse(answer);
  if (!result.success) throw notKubo();
  return result.data;
}

function notKubo(): KuboError {
  return new KuboError(
    "the server at IPFS_PIN_RPC does not answer like Kubo: set IPFS_PIN_RPC to the RPC address of a Kubo node",
  );
}
