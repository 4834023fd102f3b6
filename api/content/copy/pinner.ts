import { randomUUID } from "node:crypto";

import * as raw from "multiformats/codecs/raw";
import type { Logger } from "pino";
import { z } from "zod";

import { backoff } from "../../domain/backoff.ts";
import { callJson } from "../../outbound/call-json.ts";
import { type LeaseTimes, whileLeased } from "../../shared/lease.ts";
import type { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import type { Database } from "../../store/db/database.ts";
import { AT_ONCE } from "../../store/db/due.ts";
import { namingRows } from "../../store/db/parked-rows.ts";
import {
  type DuePin,
  finishPin,
  finishUnpin,
  LONGEST_PIN_WAIT,
  renewPins,
  returnPin,
  leasePins,
} from "../../store/media/pins.ts";
import type { Trx } from "../../store/db/sql.ts";
import type { BlockStore } from "../block-store.ts";
import { canonicalCid, parseCid } from "../cids.ts";
import { isDamage, walkBlocks } from "../content.ts";

interface PinnerDeps {
  database: Database;
  blocks: BlockStore;
  /** RPC address of the operator's Kubo node. */
  rpc: string;
  wake: Signal;
  logger: Logger;
  now: () => number;
  leaseTimes: LeaseTimes;
}

/** In milliseconds, like all times here. */
const POLL = 1_000;
/** Wait before the second try of a pin. It doubles with each further try. */
const WAIT = { first: 1_000, longest: LONGEST_PIN_WAIT };
/** Longest backoff while the Kubo node accepts nothing. */
const BACKOFF = { first: 1_000, longest: 60_000 };
/** Pins at the same time. */
const CONCURRENCY = 4;

/** The Kubo node did nothing that a step asked for. */
class NothingPinned extends Error {
  override readonly name = "NothingPinned";
}

/** Pins all hosted content at the operator's Kubo node, and removes the pins of other content. No request waits for it. */
export class Pinner {
  readonly #deps: PinnerDeps;
  readonly #loop: WorkLoop;

  constructor(deps: PinnerDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.wake,
      pollInterval: POLL,
      messages: {
        failed: "content cannot be pinned or unpinned at the IPFS node; retrying",
        recovered: "the IPFS node pins and unpins content again",
      },
      backoff: BACKOFF,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run((stop) => this.#step(stop), abort);
  }

  /** @throws NothingPinned */
  async #step(abort: AbortSignal): Promise<StepResult> {
    const { database, logger, leaseTimes, now } = this.#deps;
    const taking = { now: now(), leaseUntil: now() + leaseTimes.lasts, limit: CONCURRENCY };
    const pins = await database.write((trx) => leasePins(trx, taking));
    if (pins.length === 0) return "idle";
    const renewal = { renew: () => this.#renew(pins), every: leaseTimes.renewEvery };
    const problems = await whileLeased(renewal, abort, () => Promise.all(pins.map((pin) => this.#pin(pin, abort))));
    const record = (pin: DuePin, problem: string | null) =>
      namingRows("pins", [pin.cid], () => database.write((trx) => this.#record(trx, pin, problem, abort)));
    // Each in a transaction of its own: one that cannot be stored does not keep the others from being stored.
    await Promise.all(pins.map((pin, index) => record(pin, problems[index] ?? null)));
    if (abort.aborted) return "idle";
    const [first] = problems;
    if (first != null && !problems.includes(null)) throw new NothingPinned(first);
    for (const [index, { cid }] of pins.entries()) {
      const reason = problems[index];
      if (reason != null) logger.warn({ cid, reason }, "the IPFS node did not pin or unpin this content; retrying");
    }
    return "again";
  }

  async #renew(pins: DuePin[]): Promise<void> {
    const { database, now, leaseTimes } = this.#deps;
    try {
      await database.write((trx) => renewPins(trx, pins, now() + leaseTimes.lasts));
    } catch (error) {
      // Continue: if the lease expires, the content is pinned a second time, which changes nothing.
      this.#loop.report(error);
    }
  }

  /** Pins content, or removes the pin of content that is not hosted any more. @returns why that failed, or null. */
  async #pin(pin: DuePin, abort: AbortSignal): Promise<string | null> {
    const { rpc, blocks, logger } = this.#deps;
    try {
      if (pin.hosted) await pinAtKubo(rpc, blocks, pin.cid, abort);
      else await unpinAtKubo(rpc, pin.cid, abort);
      logger.debug({ cid: pin.cid }, pin.hosted ? "pinned" : "unpinned");
      return null;
    } catch (error) {
      logger.debug({ err: error, cid: pin.cid }, "not pinned");
      return describePinError(error);
    }
  }

  async #record(trx: Trx, pin: DuePin, problem: string | null, abort: AbortSignal): Promise<void> {
    if (problem === null) await (pin.hosted ? finishPin : finishUnpin)(trx, pin);
    // The next process pins it. Being stopped does not count as a try.
    else if (abort.aborted) await returnPin(trx, pin, AT_ONCE, null);
    else await returnPin(trx, pin, this.#deps.now() + backoff(WAIT, pin.tries), problem);
  }
}

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
    if (!isSame(Key, cid.toString()))
      throw new KuboError(`the IPFS node stored the block ${cid.toString()} under another CID`);
  }
  const { Pins } = read(
    PIN_ANSWER,
    await call(`${rpc}/api/v0/pin/add?arg=${root.toString()}&recursive=true`, null, stop, PIN_TIMEOUT),
  );
  if (!Pins.some((pin) => isSame(pin, name))) throw new KuboError(`the IPFS node did not pin ${root.toString()}`);
}

/** Removes the pin of content at a Kubo node. Its garbage collection then deletes the blocks that no other pin needs. */
async function unpinAtKubo(rpc: string, name: string, stop: AbortSignal): Promise<void> {
  try {
    const url = `${rpc}/api/v0/pin/rm?arg=${name}&recursive=true`;
    const { Pins } = read(PIN_ANSWER, await call(url, null, stop, PUT_TIMEOUT));
    if (!Pins.some((pin) => isSame(pin, name))) throw new KuboError(`the IPFS node did not remove the pin of ${name}`);
  } catch (error) {
    if (!(error instanceof KuboError && error.message.includes(NOT_PINNED))) throw error;
  }
}

/** Whether two CIDs, each in any of its forms, name the same content. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [parseCid(one), parseCid(other)];
  return first !== null && second !== null && canonicalCid(first) === canonicalCid(second);
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
  const { status, json } = await callJson(url, {
    method: "POST",
    ...(file === null
      ? {}
      : {
          headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
          body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
        }),
    maxBytes: MAX_ANSWER,
    signal: AbortSignal.any([stop, AbortSignal.timeout(timeout)]),
  });
  if (status === 200) return json;
  const message = ERROR_ANSWER.safeParse(json).data?.Message.slice(0, MAX_MESSAGE);
  const words = `the IPFS node answered ${status.toString()}`;
  throw new KuboError(message === undefined ? words : `${words}: ${message}`);
}

function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw new KuboError(
    "the server at IPFS_PIN_RPC does not answer like Kubo: set IPFS_PIN_RPC to the RPC address of a Kubo node",
  );
}
