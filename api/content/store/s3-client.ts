import { createHash } from "node:crypto";

import type { Dispatcher } from "undici";

import { backoff } from "../../domain/backoff.ts";
import { pause } from "../../shared/pause.ts";
import { BlockStoreUnavailable } from "../block-store.ts";

/** A bucket, and how to reach it. */
export interface Bucket {
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

export interface S3Answer {
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
/** Connections to the bucket. */
const CONNECTIONS = 32;

/** Error codes after which the same request may succeed. */
const TRANSIENT = ["SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "ThrottlingException"];

/** Calls of an S3-compatible server, with timeouts and retries. */
export class S3Client {
  readonly #bucket: Bucket;
  readonly #http = openHttp();
  readonly #wait: (milliseconds: number) => Promise<void>;

  /** @param wait replaced in tests. */
  constructor(bucket: Bucket, wait: (milliseconds: number) => Promise<void> = pause) {
    this.#bucket = bucket;
    this.#wait = wait;
  }

  /**
   * Sends a request about an object. Retries after connection errors, timeouts, 429 and 5xx, with growing random waits.
   * @returns the answer, also one with an error status that a retry does not change.
   * @throws BlockStoreUnavailable
   */
  async send(method: "GET" | "PUT" | "DELETE", object: string, body: Uint8Array | null = null): Promise<S3Answer> {
    for (let tries = 1; ; tries++) {
      let problem: string;
      try {
        const answer = await this.#once(method, object, body);
        if (!isTransient(answer)) return answer;
        problem = `it answered ${answer.status.toString()} ${answer.code}`.trim();
      } catch (error) {
        if (error instanceof BlockStoreUnavailable) throw error;
        problem = describe(error);
      }
      if (tries === TRIES)
        throw new BlockStoreUnavailable(`The S3 server ${this.#bucket.endpoint} failed: ${problem}.`);
      await this.#wait(Math.random() * backoff(WAIT, tries));
    }
  }

  async close(): Promise<void> {
    await (await this.#http).agent.close();
  }

  async #once(method: "GET" | "PUT" | "DELETE", object: string, body: Uint8Array | null): Promise<S3Answer> {
    const { credentials, region } = this.#bucket;
    const { AwsV4Signer, request, agent } = await this.#http;
    const url = this.#urlOf(object).href;
    const { headers } = await new AwsV4Signer({
      method,
      url,
      service: "s3",
      region,
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken === null ? {} : { sessionToken: credentials.sessionToken }),
      // So the server refuses a body that was changed on the way.
      headers: { "x-amz-content-sha256": sha256(body ?? "") },
    }).sign();
    const response = await request(url, {
      method,
      headers: Object.fromEntries(headers),
      body,
      dispatcher: agent,
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const bytes = await read(response.body);
    const failed = response.statusCode >= 300;
    return {
      status: response.statusCode,
      body: bytes,
      code: failed ? (textOf("Code", bytes) ?? "") : "",
      region: first(response.headers["x-amz-bucket-region"]) ?? (failed ? textOf("Region", bytes) : null),
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

/** Loads the HTTP client and the signer, which a service without a bucket does not need. */
async function openHttp() {
  const [{ Agent, request }, { AwsV4Signer }] = await Promise.all([import("undici"), import("aws4fetch")]);
  return { AwsV4Signer, request, agent: new Agent({ connections: CONNECTIONS, connect: { timeout: TIMEOUT } }) };
}

function isTransient({ status, code }: S3Answer): boolean {
  return status === 429 || status >= 500 || TRANSIENT.includes(code);
}

async function read(body: Dispatcher.ResponseData["body"]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > MAX_ANSWER) throw new BlockStoreUnavailable("The S3 server sent more than a block.");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The text of an element in an error's body. */
function textOf(element: "Code" | "Region", body: Buffer): string | null {
  return new RegExp(`<${element}>([A-Za-z0-9-]+)</${element}>`).exec(body.toString("utf8"))?.[1] ?? null;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error.name === "TimeoutError") return "it did not answer in time";
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : error.message;
}

function first(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
