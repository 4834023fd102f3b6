import { isUtf8 } from "node:buffer";

import express, { type Request, type RequestHandler, type Response } from "express";

import { ApiError } from "../domain/error-codes.ts";
import { parseExact } from "../shared/exact-json.ts";

/** A JSON body, and its original text. */
export interface JsonBody {
  value: unknown;
  text: string;
}

/** Reads JSON bodies of at most `limit` bytes. A call without a body counts as `{}`. */
export function bodyReader(limit: number): (request: Request, response: Response) => Promise<JsonBody> {
  const readBytes = express.raw({ type: () => true, limit });
  return async (request, response) => {
    if (request.get("content-length") === "0") return { value: {}, text: "" };
    // `is` returns null when there is no body: nothing can have the wrong type then.
    if (request.is("application/json") === false || !isUtf8Charset(request.get("content-type"))) {
      throw new ApiError("unsupported_media_type");
    }
    await run(readBytes, request, response);
    const bytes: unknown = request.body;
    if (!Buffer.isBuffer(bytes) || bytes.length === 0) return { value: {}, text: "" };
    if (!isUtf8(bytes)) throw new ApiError("malformed_json");
    const text = bytes.toString("utf8");
    return { value: parse(text), text };
  };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    // Not JSON, or nested too deeply for the parser.
    throw new ApiError("malformed_json");
  }
}

/** JSON is always UTF-8 (RFC 8259), so any other charset is refused. */
function isUtf8Charset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType ?? "")?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

function run(handler: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    void handler(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error("Reading the body failed", { cause: error }));
    });
  });
}
