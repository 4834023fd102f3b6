import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";

/** Keys that the server accepts. */
export const S3_KEYS = { accessKeyId: "test-key", secretAccessKey: "test/secret+key", sessionToken: null };
export const S3_REGION = "eu-test-1";
export const S3_BUCKET = "moneta-media";

/** An answer in place of the right one. `hang`: none at all. */
type S3Fault =
  | "hang"
  | "cut"
  | { status: number; code: string; headers?: Record<string, string>; /** Named in the body. */ region?: string };

/**
 * The part of S3 that the service uses, in memory: it checks each signature and each checksum as the standard says, from the
 * bytes of the request, with code of its own.
 */
export class S3Server {
  /** By path: `/<bucket>/<key>`. */
  readonly objects = new Map<string, Buffer>();
  /** Methods and paths of the calls, in order. */
  readonly asked: string[] = [];
  /** The tokens of temporary credentials that the calls had, in order. */
  readonly tokens: string[] = [];
  /** Faults of the next calls, in order. */
  faults: S3Fault[] = [];
  /** A fault of every call. */
  fault: S3Fault | null = null;
  /** Called before a call is answered. */
  before: (method: string, path: string) => Promise<void> = () => Promise.resolve();
  readonly #server: Server;
  #listening: Listening | null = null;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  get endpoint(): string {
    return this.#listening?.url ?? "";
  }

  async start(): Promise<void> {
    this.#listening = await listenOnLoopback(this.#server);
  }

  async stop(): Promise<void> {
    await this.#listening?.stop();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part as Uint8Array);
    const body = Buffer.concat(parts);
    const { method = "", url: path = "" } = request;
    this.asked.push(`${method} ${path}`);
    const token = request.headers["x-amz-security-token"];
    if (typeof token === "string") this.tokens.push(token);
    await this.before(method, path);
    const fault = this.fault ?? this.faults.shift() ?? refusal(request, body) ?? this.#missingBucket(path);
    if (fault === "hang") return;
    if (fault === "cut") {
      response.writeHead(200, { "content-length": "1000" }).write("half");
      setImmediate(() => response.destroy());
      return;
    }
    if (fault !== null) {
      sendError(response, fault);
      return;
    }
    if (method === "PUT") {
      this.objects.set(path, body);
      response.writeHead(200).end();
    } else if (method === "DELETE") {
      this.objects.delete(path);
      response.writeHead(204).end();
    } else {
      const object = this.objects.get(path);
      if (object === undefined) sendError(response, { status: 404, code: "NoSuchKey" });
      else response.writeHead(200, { "content-length": object.length }).end(object);
    }
  }

  #missingBucket(path: string): S3Fault | null {
    return path.startsWith(`/${S3_BUCKET}/`) ? null : { status: 404, code: "NoSuchBucket" };
  }
}

function sendError(response: ServerResponse, { status, code, headers, region }: Exclude<S3Fault, string>): void {
  const place = region === undefined ? "" : `<Region>${region}</Region>`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>A test.</Message>${place}</Error>`;
  response.writeHead(status, { "content-type": "application/xml", ...headers }).end(xml);
}

/** Why the request is refused; null when its signature and its checksum are right. */
function refusal(request: IncomingMessage, body: Buffer): Exclude<S3Fault, string> | null {
  const header = (name: string) => String(request.headers[name] ?? "");
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header("authorization"),
    );
  if (parts === null) return { status: 403, code: "AccessDenied" };
  const [, key, day = "", region = "", names = "", signature] = parts;
  if (key !== S3_KEYS.accessKeyId) return { status: 403, code: "InvalidAccessKeyId" };
  if (region !== S3_REGION)
    return { status: 400, code: "AuthorizationHeaderMalformed", headers: { "x-amz-bucket-region": S3_REGION } };
  const checksum = createHash("sha256").update(body).digest("hex");
  if (header("x-amz-content-sha256") !== checksum) return { status: 400, code: "XAmzContentSHA256Mismatch" };
  const time = header("x-amz-date");
  const sent = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(Date.now() - sent) < 900_000)) return { status: 403, code: "RequestTimeTooSkewed" };
  const token = request.headers["x-amz-security-token"] === undefined ? [] : ["x-amz-security-token"];
  for (const needed of ["host", "x-amz-date", "x-amz-content-sha256", ...token])
    if (!names.split(";").includes(needed)) return { status: 403, code: "AccessDenied" };
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const lines = names.split(";").map((name) => `${name}:${header(name).trim()}\n`);
  const canonical = `${request.method ?? ""}\n${escapedOnce(path)}\n${query}\n${lines.join("")}\n${names}\n${checksum}`;
  const scope = `${day}/${region}/s3/aws4_request`;
  const hashed = createHash("sha256").update(canonical).digest("hex");
  let secret: Buffer = Buffer.from(`AWS4${S3_KEYS.secretAccessKey}`);
  for (const part of [day, region, "s3", "aws4_request", `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hashed}`])
    secret = createHmac("sha256", secret).update(part).digest();
  return secret.toString("hex") === signature ? null : { status: 403, code: "SignatureDoesNotMatch" };
}

/** The path as it is signed: each character is escaped that is not unreserved (RFC 3986), also where a client need not escape it. */
function escapedOnce(path: string): string {
  const escape = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return path.split("/").map(decodeURIComponent).map(escape).join("/");
}
