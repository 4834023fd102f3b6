import { isUtf8 } from "node:buffer";

import express, { type Request, type RequestHandler, type Response } from "express";

import { BODY_SECONDS, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { parseExact } from "../../client/rules/exact-json.ts";
import { faultOfJson } from "../../client/rules/json-fault.ts";
import { inTime } from "../shared/pause.ts";
import { discardRest } from "./file-body.ts";
import type { BytesHolder, HeldBytes } from "./held-bytes.ts";

/** A JSON body, and its original text. */
interface JsonBody {
  value: unknown;
  text: string;
  /** To be called when the call is handled: until then, its bytes count as held. */
  handled: () => void;
}

/** A call without a body counts as `{}`, and holds nothing. */
export const NO_BODY: JsonBody = { value: {}, text: "", handled: () => undefined };

/** @throws ApiError */
export type BodyReader = (request: Request, response: Response, caller: BytesHolder) => Promise<JsonBody>;

/**
 * Reads JSON bodies of at most `limit` bytes.
 * @param bytes counts them while they are in memory.
 * @param options for bodies that take much. `compressed`: whether the body may be compressed, as a few KiB would become `limit`
 * bytes. `seconds`: the time in which it must arrive.
 */
export function bodyReader(
  limit: number,
  bytes: Pick<HeldBytes, "requireFit" | "add">,
  { compressed = true, seconds = BODY_SECONDS }: { compressed?: boolean; seconds?: number } = {},
): BodyReader {
  const readBytes = express.raw({ type: () => true, limit, inflate: compressed });
  return async (request, response, caller) => {
    if (request.get("content-length") === "0") return NO_BODY;
    // `is` returns null when there is no body: nothing can have the wrong type then.
    if (request.is("application/json") === false || !isUtf8Charset(request.get("content-type"))) {
      throw new ApiError("unsupported_media_type");
    }
    if (!compressed && (request.get("content-encoding") ?? "identity").toLowerCase() !== "identity") {
      const message = "The body of a batch may not be compressed. Send it without `Content-Encoding`.";
      throw new ApiError("unsupported_media_type", null, { message });
    }
    const length = mostBytes(request, limit);
    bytes.requireFit(request, caller, length, "body");
    const handled = bytes.add(request, caller, length, "body");
    try {
      await inTime(run(readBytes, request, response), seconds * 1_000, () => {
        throw new ApiError("request_timeout");
      });
      return { ...jsonOf(request.body), handled };
    } catch (error) {
      // A connection whose body goes on is closed soon.
      discardRest(request);
      handled();
      throw error;
    }
  };
}

function jsonOf(bytes: unknown): Omit<JsonBody, "handled"> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return NO_BODY;
  if (!isUtf8(bytes)) throw notUtf8(bytes);
  refuseManyValues(bytes);
  const text = bytes.toString("utf8");
  return { value: parse(text), text };
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts values before they take memory: two bytes of JSON can become an object. Each comma and each opening bracket is
 * followed by at most one value.
 */
function refuseManyValues(bytes: Buffer): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === COMMA) {
      values++;
    } else if (byte === ARRAY || byte === OBJECT) {
      values++;
      depth++;
    } else if (byte === ARRAY_END || byte === OBJECT_END) {
      depth--;
    }
    if (values > MAX_JSON_VALUES) throw tooManyValues();
    if (depth > MAX_JSON_DEPTH) throw new ApiError("malformed_json", null, { message: TOO_DEEP });
  }
}

const TOO_DEEP = `The body has more than ${MAX_JSON_DEPTH.toString()} levels of arrays and objects. Send less nested JSON.`;

function tooManyValues(): ApiError {
  const message = `The body has more than ${MAX_JSON_VALUES.toLocaleString("en")} JSON values. Send fewer items or fields.`;
  return new ApiError("payload_too_large", null, { message });
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const fault = faultOfJson(text);
    if (fault === null) throw new ApiError("malformed_json");
    const { line, column, reason } = fault;
    const message = `The body is not valid JSON: line ${line.toString()}, column ${column.toString()}: ${reason}. Correct the body and send it again.`;
    throw new ApiError("malformed_json", null, { message });
  }
}

function notUtf8(bytes: Buffer): ApiError {
  // Decoding replaces what is wrong, so the first difference is there.
  const replaced = Buffer.from(bytes.toString("utf8"));
  const differs = bytes.findIndex((byte, index) => byte !== replaced[index]);
  // A character that is cut off at the end can look like the beginning of its replacement.
  const at = differs === -1 ? bytes.length - 1 : differs;
  const found = `0x${(bytes[at] ?? 0).toString(16).padStart(2, "0")}`;
  const message = `The body is not valid UTF-8: byte ${(at + 1).toString()} is ${found}. Send the JSON in UTF-8.`;
  return new ApiError("malformed_json", null, { message });
}

/** JSON is always UTF-8 (RFC 8259), so any other charset is refused. */
function isUtf8Charset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType ?? "")?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Bytes that a body may take: a compressed one, and one without a length, as many as the route reads. */
function mostBytes({ headers }: Request, limit: number): number {
  const length = headers["content-length"];
  if (headers["transfer-encoding"] !== undefined || headers["content-encoding"] !== undefined) return limit;
  return length === undefined ? 0 : Math.min(Number(length), limit);
}

function run(handler: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void handler(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error("Reading the body failed", { cause: error }));
    });
  });
}
