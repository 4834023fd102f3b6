import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";

import { MAX_HEADER_BYTES } from "../config/limits.ts";
import { ApiError, type HttpErrorCode } from "../domain/error-codes.ts";

type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/**
 * Milliseconds for which an idle connection stays open. Proxies keep theirs for a minute or less, and must be the ones to
 * close it: a call that is sent while the server closes the connection fails with 502 at the proxy.
 */
const KEEP_ALIVE = 75_000;
/** Milliseconds in which the headers of a call must arrive, and in which all of it must. */
const ARRIVAL = { headers: 30_000, all: 300_000 };

/**
 * An HTTP server that answers every error in the JSON error shape, including errors that Node would answer itself.
 * A missing `Host` and an unknown `Expect` go to the app (`check-request.ts`); HTTP that cannot be parsed, or that does not
 * arrive in time, never becomes a request and is answered here.
 */
export function createHttpServer(app: RequestListener, options: ServerOptions = {}): Server {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE,
      headersTimeout: ARRIVAL.headers,
      requestTimeout: ARRIVAL.all,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...options,
      requireHostHeader: false,
    },
    app,
  );
  server.on("checkExpectation", app);
  server.on("clientError", (error: ClientError, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    // An answer to HEAD has no body: a client would read it as the start of the next answer.
    const isHead = error.rawPacket?.subarray(0, 5).toString("latin1") === "HEAD ";
    socket.end(rawAnswer(codeOf(error), !isHead));
  });
  return server;
}

function codeOf(error: ClientError): HttpErrorCode {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return "payload_too_large";
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "request_timeout";
    default:
      return "malformed_request";
  }
}

function rawAnswer(code: HttpErrorCode, withBody: boolean): string {
  const error = new ApiError(code);
  const body = JSON.stringify(error.body);
  const lines = [
    `HTTP/1.1 ${error.status.toString()} ${code}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body).toString()}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${withBody ? body : ""}`;
}

/** Resolves when the server listens. @throws the error of the system when it cannot. */
export function listen(server: Server, { port, host }: { port: number; host: string }): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}

/** Waits at most `deadlineMs` for calls in progress. Idle connections are closed immediately. */
export async function stopHttpServer(server: Server, deadlineMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, 50);
  const deadline = setTimeout(() => {
    server.closeAllConnections();
  }, deadlineMs);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}
