import type { RequestHandler } from "express";

import { ApiError } from "../domain/error-codes.ts";

/** Refuses what HTTP forbids and Node would otherwise refuse without a JSON body. */
export const checkRequest: RequestHandler = (request, response, next) => {
  const expect = request.get("expect");
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    // The body was not read: the connection cannot be used again.
    response.set("Connection", "close");
    throw new ApiError("expectation_failed");
  }
  // HTTP/1.0 has no Host header.
  if (request.httpVersion === "1.1" && request.headers.host === undefined) {
    throw new ApiError("malformed_request", null, {
      message: "The call has no `Host` header, which HTTP/1.1 requires. Add it.",
    });
  }
  next();
};
