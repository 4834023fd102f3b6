import type { ErrorRequestHandler, Response } from "express";

import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import { secondsUntilRetry } from "../commands/foreign-tokens.ts";
import { ApiError, type HttpErrorCode } from "../domain/error-codes.ts";
import { BlockStoreUnavailable } from "../content/block-store.ts";
import { DatabaseUnavailable } from "../store/db/errors.ts";

/** Maps anything that was thrown to an answer. An unknown error becomes `internal_error`; its details stay inside. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // RpcError: a node may refuse a call because of its own limits, so the error proves nothing about the call.
  if (error instanceof ChainUnavailable || error instanceof RpcError || cannotServeNow(error)) {
    return new ApiError("unavailable", null, {
      retryAfter: secondsUntilRetry(error instanceof ChainUnavailable ? error : null),
    });
  }
  // The router throws it for a path with a malformed percent-escape.
  if (error instanceof URIError) return noSuchPath();
  return new ApiError(codeOfHttpError(error) ?? "internal_error");
}

/** For a path that no endpoint has. A path with ids of something that does not exist has the message of `not_found`. */
export function noSuchPath(): ApiError {
  const message = "This path does not exist. The paths of the API begin with `/v1`, and `/docs` lists all of them.";
  return new ApiError("not_found", null, { message });
}

/** @param allowed the methods of the path, for `Allow`. @throws ApiError `method_not_allowed` */
export function refuseMethod(response: Response, allowed: string): never {
  response.set("Allow", allowed);
  const message = `This path does not support ${response.req.method}. It supports ${allowed}.`;
  throw new ApiError("method_not_allowed", null, { message });
}

/** Errors of Express's body reader carry their status. */
function codeOfHttpError(error: unknown): HttpErrorCode | null {
  if (!(error instanceof Error) || !("status" in error)) return null;
  switch (error.status) {
    case 400:
      return "malformed_json";
    case 413:
      return "payload_too_large";
    case 415:
      return "unsupported_media_type";
    default:
      return null;
  }
}

/** What SQLite reports while it is busy, or while the disk is full, fails or is read-only. Nothing was stored. */
const CANNOT_WRITE_NOW = /^SQLITE_(BUSY|FULL|IOERR|READONLY)/;

function cannotServeNow(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || error instanceof BlockStoreUnavailable) return true;
  return error instanceof Error && "code" in error && CANNOT_WRITE_NOW.test(String(error.code));
}

function sendError(response: Response, error: ApiError): void {
  if (error.errorCode === "unauthorized") response.set("WWW-Authenticate", "Bearer");
  if (error.retryAfter !== null) response.set("Retry-After", error.retryAfter.toString());
  response.status(error.status).set("Cache-Control", "no-store").json(error.body);
}

/** Last in the chain. Faults of the service go to its log; the caller gets a code and its message. */
export const errorHandler: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const known = toApiError(error);
  if (known.status >= 500) response.err = error instanceof Error ? error : new Error(String(error));
  if (response.headersSent) {
    next(error);
    return;
  }
  sendError(response, known);
};
