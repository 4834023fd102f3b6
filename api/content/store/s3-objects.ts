import { createHash, randomUUID } from "node:crypto";

import type { Dispatcher, Response } from "undici";

import { backoff } from "../../domain/backoff.ts";
import { forEachAtOnce } from "../../shared/at-once.ts";
import { bounded } from "../../shared/bounded.ts";
import { pause } from "../../shared/pause.ts";
import { BlockStoreUnavailable } from "../block-store.ts";
import type { ObjectStore } from "./indexed-blocks.ts";

/** A bucket, and how to reach it. */
interface Bucket {
  bucket: string;
  /** Without a slash at its start; with one at its end, unless it is empty. */
  prefix: string;
  /** Without a path. */
  endpoint: string;
  region: string;
  /** Whether the bucket's name is a part of the path. Otherwise it is a part of the host name. */
  pathStyle: boolean;
  credentials: {
    accessKeyId: string;
    secretAccessKey: string;
    /** Of temporary credentials. */
    sessionToken: string | null;
  };
}

interface Answer {
  status: number;
  body: Uint8Array;
  /** The error code that S3 gives in an error's body; empty: it gave none. */
  code: string;
  /** The region that the bucket is in, when the answer names it. */
  region: string | null;
}

/** All times in milliseconds. */
const TIMEOUT = 30_000;
const TRIES = 5;
const WAIT = { first: 200, longest: 5_000 };
/** Largest answer. No block is larger than 2 MiB. */
const MAX_ANSWER = 4 * 2 ** 20;
/** Deletions at once. */
const DELETIONS = 8;
/** Connections at once. Further requests wait for one. */
const CONNECTIONS = 32;

/** Error codes after which the same request may succeed. */
const TRANSIENT = ["SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "ThrottlingException"];

/** Bytes of blocks as objects in an S3-compatible bucket. */
export class S3Objects implements ObjectStore {
  readonly name: string;
  readonly #bucket: Bucket;
  readonly #wait: (milliseconds: number) => Promise<void>;
  #agent: Dispatcher | null = null;

  /** @param wait replaced in tests. */
  constructor(bucket: Bucket, wait: (milliseconds: number) => Promise<void> = pause) {
    this.#bucket = bucket;
    this.#wait = wait;
    this.name = `s3://${bucket.bucket}/${bucket.prefix}`;
  }

  async put(object: string, bytes: Uint8Array): Promise<void> {
    await this.#send("PUT", object, bytes);
  }

  async get(object: string): Promise<Uint8Array | null> {
    const answer = await this.#send("GET", object);
    return answer.status === 200 ? answer.body : null;
  }

  async delete(objects: readonly string[]): Promise<void> {
    await forEachAtOnce(objects, DELETIONS, async (object) => {
      await this.#send("DELETE", object);
    });
  }

  /** Stores a small object, reads it back and deletes it. */
  async problem(): Promise<string | null> {
    try {
      const bytes = Buffer.from("Moneta checks with this object that it can store media here.\n");
      const probe = `check-${randomUUID()}`;
      await this.put(probe, bytes);
      const stored = await this.get(probe);
      await this.delete([probe]);
      if (stored === null || Buffer.compare(stored, bytes) !== 0) {
        return `${this.name} does not return what was stored. Check that the server at ${this.#bucket.endpoint} is S3-compatible.`;
      }
      return null;
    } catch (error) {
      if (error instanceof BlockStoreUnavailable) return error.message;
      throw error;
    }
  }

  /**
   * Sends a request about an object. Retries after connection errors, timeouts, 429 and 5xx, with growing random waits.
   * @returns the answer: success, or for a GET or DELETE that the object does not exist.
   * @throws BlockStoreUnavailable
   */
  async #send(method: "GET" | "PUT" | "DELETE", object: string, body: Uint8Array | null = null): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      let problem: string;
      try {
        const answer = await this.#once(method, object, body);
        const { status, code } = answer;
        if (status === 200 || status === 204 || (method !== "PUT" && code === "NoSuchKey")) return answer;
        if (!isTransient(answer)) throw new BlockStoreUnavailable(wordsFor(answer, this.#bucket));
        problem = `it answered ${status.toString()} ${code}`.trim();
      } catch (error) {
        if (error instanceof BlockStoreUnavailable) throw error;
        problem = describe(error);
      }
      if (tries === TRIES)
        throw new BlockStoreUnavailable(`The S3 server ${this.#bucket.endpoint} failed: ${problem}.`);
      await this.#wait(Math.random() * backoff(WAIT, tries));
    }
  }

  async #once(method: string, object: string, body: Uint8Array | null): Promise<Answer> {
    const { credentials, region } = this.#bucket;
    // A service without a bucket does not need it.
    const [{ AwsClient }, { Agent, fetch }] = await Promise.all([import("aws4fetch"), import("undici")]);
    this.#agent ??= new Agent({ connections: CONNECTIONS });
    const { sessionToken, ...keys } = credentials;
    const client = new AwsClient({
      ...keys,
      region,
      service: "s3",
      ...(sessionToken === null ? {} : { sessionToken }),
    });
    // With the hash, the server refuses a body that was changed on the way.
    const headers = {
      "x-amz-content-sha256": createHash("sha256")
        .update(body ?? "")
        .digest("hex"),
    };
    const signed = await client.sign(this.#urlOf(object).href, {
      method,
      headers,
      body: body === null ? null : (body as Uint8Array<ArrayBuffer>),
    });
    const response = await fetch(signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
      dispatcher: this.#agent,
    });
    const bytes = await bytesOf(response);
    return {
      status: response.status,
      body: bytes,
      code: response.ok ? "" : (textOf("Code", bytes) ?? ""),
      region: response.headers.get("x-amz-bucket-region") ?? (response.ok ? null : textOf("Region", bytes)),
    };
  }

  #urlOf(object: string): URL {
    const { bucket, prefix, endpoint, pathStyle } = this.#bucket;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    const path = `${pathStyle ? `${bucket}/` : ""}${prefix}${object}`;
    url.pathname = `/${path.split("/").map(encodeURIComponent).join("/")}`;
    return url;
  }
}

function isTransient({ status, code }: Answer): boolean {
  return status === 429 || status >= 500 || TRANSIENT.includes(code);
}

async function bytesOf({ body }: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const tooMany = () => new BlockStoreUnavailable("The S3 server sent more than a block.");
  for await (const part of bounded((body ?? []) as AsyncIterable<Uint8Array>, MAX_ANSWER, tooMany)) parts.push(part);
  return Buffer.concat(parts);
}

/** The text of an element in an error's body. */
function textOf(element: "Code" | "Region", body: Buffer): string | null {
  return new RegExp(`<${element}>([A-Za-z0-9-]+)</${element}>`).exec(body.toString("utf8"))?.[1] ?? null;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error.name === "TimeoutError") return "it did not answer in time";
  // `fetch` says only that it failed.
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return "code" in cause && typeof cause.code === "string" ? `connection failed (${cause.code})` : cause.message;
}

/** Says what is wrong and what to do about it. */
function wordsFor({ status, code, region }: Answer, bucket: Bucket): string {
  const name = `The bucket "${bucket.bucket}" at ${bucket.endpoint}`;
  if (region !== null && region !== bucket.region && (status === 301 || status === 307 || status === 400)) {
    return `${name} is in the region ${region}, not ${bucket.region}: set AWS_REGION=${region}.`;
  }
  switch (code) {
    case "NoSuchBucket":
      return `${name} does not exist. Create it, or correct MEDIA_STORE.`;
    case "InvalidAccessKeyId":
      return `${name} does not know the access key: correct AWS_ACCESS_KEY_ID.`;
    case "SignatureDoesNotMatch":
      return `${name} refused the signature: correct AWS_SECRET_ACCESS_KEY, and AWS_REGION (now ${bucket.region}).`;
    case "RequestTimeTooSkewed":
      return `${name} refused the time of the request: set the clock of this machine.`;
    case "ExpiredToken":
      return `${name} refused the session token because it has expired: renew AWS_SESSION_TOKEN.`;
  }
  if (status === 401 || status === 403) {
    return `${name} refused access (${code === "" ? status.toString() : code}): give the access key the rights to read, write and delete objects.`;
  }
  return `${name} answered ${status.toString()} ${code}`.trim() + ".";
}
