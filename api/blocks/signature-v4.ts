import { createHash, createHmac } from "node:crypto";

/** What a request to S3 is signed with. */
export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary credentials. */
  sessionToken: string | null;
}

export interface UnsignedRequest {
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
