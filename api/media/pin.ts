import { randomUUID } from "node:crypto";

import * as raw from "multiformats/codecs/raw";
import { request } from "undici";
import { z } from "zod";

import type { BlockFiles } from "../ipfs/block-files.ts";
import { parseCid } from "../ipfs/cids.ts";
import { isDamage, walkBlocks } from "../ipfs/content.ts";

/** Milliseconds for one exchange with the operator's own node. To pin, it reads all that is pinned. */
const PUT_TIMEOUT = 60_000;
const PIN_TIMEOUT = 600_000;
/** Bytes of an answer. Kubo says no more than a name or a sentence. */
const LONGEST_ANSWER = 65_536;
/** Characters of the node's own words. */
const LONGEST_WORDS = 200;

const PUT_ANSWER = z.object({ Key: z.string() });
const PIN_ANSWER = z.object({ Pins: z.array(z.string()) });
const ERROR_ANSWER = z.object({ Message: z.string() });

/** What is at the RPC address did not do what Kubo does. */
class NodeError extends Error {
  override readonly name = "NodeError";
}

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
    const { Key } = read(PUT_ANSWER, await ask(url, bytes, stop, PUT_TIMEOUT));
    if (parseCid(Key)?.toV1().equals(cid.toV1()) !== true)
      throw new NodeError(`the IPFS node stored ${cid.toString()} under another name`);
  }
  const { Pins } = read(
    PIN_ANSWER,
    await ask(`${rpc}/api/v0/pin/add?arg=${root.toString()}&recursive=true`, null, stop, PIN_TIMEOUT),
  );
  if (!Pins.some((pin) => parseCid(pin)?.toV1().equals(root.toV1()) === true))
    throw new NodeError(`the IPFS node did not pin ${root.toString()}`);
}

/** For the operator: why content could not be pinned. */
export function wordsOfPinError(error: unknown): string {
  if (error instanceof NodeError || isDamage(error)) return (error as Error).message;
  if (!(error instanceof Error)) return "unknown error";
  if (error.name === "TimeoutError") return "the IPFS node did not answer in time";
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : error.message;
}

/** @param file sent as the one part of a form, which is how Kubo takes files. */
async function ask(url: string, file: Uint8Array | null, stop: AbortSignal, timeout: number): Promise<unknown> {
  const boundary = `moneta-${randomUUID()}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="data"; filename="data"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const response = await request(url, {
    method: "POST",
    headers: file === null ? {} : { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: file === null ? null : Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    signal: AbortSignal.any([stop, AbortSignal.timeout(timeout)]),
    // The signal ends it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const answer = parse(await text(response.body));
  if (response.statusCode === 200) return answer;
  const words = ERROR_ANSWER.safeParse(answer).data?.Message.slice(0, LONGEST_WORDS);
  const status = `the IPFS node answered ${response.statusCode.toString()}`;
  throw new NodeError(words === undefined ? status : `${status}: ${words}`);
}

/** What listens at the address need not be Kubo. */
async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > LONGEST_ANSWER) throw strange();
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** @returns undefined for what is no JSON. */
function parse(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const result = schema.safeParse(answer);
  if (!result.success) throw strange();
  return result.data;
}

function strange(): NodeError {
  return new NodeError("the IPFS node answered what no Kubo does: is IPFS_PIN_RPC its RPC address?");
}
