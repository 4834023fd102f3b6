import type { IncomingMessage } from "node:http";

import type { Request } from "express";

import type { SentFile } from "../commands/upload-media.ts";
import { CHUNK_SECONDS } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { inTime } from "../shared/pause.ts";

/**
 * Milliseconds in which a caller may finish a body that was refused. Closing the connection at once would keep many callers
 * from reading the answer.
 */
const REST = 5_000;

/** The body as it arrives: only a small part of it is in memory. @throws ApiError when the body is compressed. */
export function fileBody(request: Request): SentFile {
  const coding = request.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") {
    const message = "The body is compressed. Send the bytes of the file as they are, without `Content-Encoding`.";
    throw new ApiError("unsupported_media_type", null, { message });
  }
  const length = request.get("content-length");
  return {
    type: request.get("content-type") ?? null,
    length: length === undefined ? null : Number(length),
    bytes: chunksOf(request),
  };
}

async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  // The connection must survive a refused body, so that the caller gets the answer.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  const late = () => {
    const message = `Nothing of the file arrived for ${CHUNK_SECONDS.toString()} seconds. Send it again.`;
    throw new ApiError("request_timeout", null, { message });
  };
  try {
    for (;;) {
      const chunk = await inTime(chunks.next(), CHUNK_SECONDS * 1_000, late);
      if (chunk.done === true) return;
      yield chunk.value;
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (!request.destroyed && !request.readableAborted) throw error;
    const message = "The connection ended before the whole body had arrived. Send the call again.";
    throw new ApiError("malformed_request", null, { message });
  }
}

/** Discards what still arrives of a refused body, for a short time. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  const deadline = setTimeout(() => request.socket.destroy(), REST);
  request.once("close", () => {
    clearTimeout(deadline);
  });
  request.resume();
}
