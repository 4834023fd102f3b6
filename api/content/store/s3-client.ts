import { createHash, createHmac } from "node:crypto";

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
  credentials: Credentials;
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
  constructor(bucket: Bucket, wait = (milliseconds: number) => pause(milliseconds, NEVER)) {
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
    const { request, agent } = await this.#http;
    const url = this.#urlOf(object);
    const headers = body === null ? {} : { "content-length": body.length.toString() };
    const response = await request(url, {
      method,
      headers: signedHeaders({ method, url, headers, body }, { credentials, region, time: new Date() }),
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

/** Loads undici, which a service without a bucket does not need here. */
async function openHttp() {
  const { Agent, request } = await import("undici");
  return { request, agent: new Agent({ connections: CONNECTIONS, connect: { timeout: TIMEOUT } }) };
}

const NEVER = new AbortController().signal;

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

/** What a request to S3 is signed with. */
interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary credentials. */
  sessionToken: string | null;
}

interface UnsignedRequest {
  method: string;
  url: URL;
  /** Other headers that are signed, by their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | null;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/**
 * Signs a request with Signature Version 4, with the checksum of the body.
 * @returns all headers to send.
 */
export function signedHeaders(
  request: UnsignedRequest,
  { credentials, region, time }: { credentials: Credentials; region: string; time: Date },
): Record<string, string> {
  const { method, url, body } = request;
  const timestamp = time.toISOString().replace(/[:-]|\.\d{3}/g, "");
  const checksum = sha256(body ?? "");
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    "x-amz-content-sha256": checksum,
    "x-amz-date": timestamp,
    ...(credentials.sessionToken === null ? {} : { "x-amz-security-token": credentials.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    canonicalPath(url),
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    names.join(";"),
    checksum,
  ].join("\n");
  const scope = `${timestamp.slice(0, 8)}/${region}/s3/aws4_request`;
  const signature = hmac(
    scope.split("/").reduce<Buffer | string>((key, part) => hmac(key, part), `AWS4${credentials.secretAccessKey}`),
    [ALGORITHM, timestamp, scope, sha256(canonical)].join("\n"),
  ).toString("hex");
  const authorization = `${ALGORITHM} Credential=${credentials.accessKeyId}/${scope},SignedHeaders=${names.join(";")},Signature=${signature}`;
  return { ...headers, authorization };
}

/** S3 escapes a path once. */
function canonicalPath(url: URL): string {
  return url.pathname.split("/").map(decodeURIComponent).map(escape).join("/");
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${escape(name)}=${escape(value)}`)
    .sort()
    .join("&");
}

/** `encodeURIComponent`, and the five characters that it leaves although they are reserved. */
function escape(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
