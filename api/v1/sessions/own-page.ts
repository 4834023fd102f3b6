import type { Request } from "express";

import { ApiError } from "../../domain/error-codes.ts";
import { CONSOLE_HEADER } from "./headers.ts";

/** Methods that change nothing. */
const READS = new Set(["GET", "HEAD"]);
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Refuses calls that a page of another site may have caused: a browser sends the cookie with them. Another site cannot send
 * the header, and cannot choose `Origin`.
 * @throws ApiError `forbidden`
 */
export function requireOwnPage(request: Request, publicUrl: string): void {
  if (request.get(CONSOLE_HEADER) !== "1") {
    throw forbidden(`Calls with the cookie of a console session need the header \`${CONSOLE_HEADER}: 1\`. Add it.`);
  }
  const origin = request.get("origin");
  if (origin === undefined) {
    if (READS.has(request.method)) return;
    throw forbidden("Calls that change something with the cookie of a console session need the header `Origin`.");
  }
  if (isOwn(origin, request.get("host"), publicUrl)) return;
  throw forbidden(
    `The page that made this call is not of this service. Open the console at ${publicUrl}/console, or correct PUBLIC_URL.`,
  );
}

/**
 * Behind a proxy only PUBLIC_URL says what the browser calls the service. A local service may also be opened as `127.0.0.1`
 * instead of `localhost`: the page then has the host of the call. Other hosts do not count, because anybody can let a name
 * point to this machine.
 */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (origin === new URL(publicUrl).origin) return true;
  return host !== undefined && LOOPBACK.test(host) && origin === `http://${host.toLowerCase()}`;
}

function forbidden(message: string): ApiError {
  return new ApiError("forbidden", null, { message });
}
