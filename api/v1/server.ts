import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";

import { type Limits, MAX_HEADER_BYTES } from "../config/limits.ts";
import { ApiError, type HttpErrorCode } from "../domain/error-codes.ts";
import { discardRest } from "./file-body.ts";
import type { Arrivals } from "./gate.ts";
import { clientAt } from "./rate-limit.ts";

type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/**
 * Milliseconds for which an idle connection stays open. Proxies keep theirs for a minute or less, and must be the ones to
 * close it: a call that is sent while the server closes the connection fails with 502 at the proxy.
 */
const KEEP_ALIVE = 75_000;
/**
 * Milliseconds in which the headers of a call must arrive, also the first of a new connection, and how often that is checked.
 * Bodies have deadlines of their own: JSON as a whole (`body.ts`), files for each part (`file-body.ts`), and a body that its route does
 * not read must end soon after the answer.
 */
const HEADERS = { timeout: 30_000, check: 5_000 };
/** Milliseconds in which a call must arrive with its body: the largest file, from a slow caller. */
const WHOLE_CALL = 3_600_000;
/** Seconds after which a connection is closed on which nothing moves, besides those that a call may wait: nobody reads its answer. */
const IDLE_SECONDS = 60;
/** `Retry-After` in seconds for a connection too many. */
const RETRY_AFTER = 5;

/** How many connections a server may have. */
interface ConnectionLimits {
  limits: Pick<Limits, "connections" | "addressConnections" | "waitSeconds">;
  /** Whether many clients share the address, because it is a proxy's. */
  isProxy: (address: string) => boolean;
  /** Hears of each connection that is refused. `address`: the one that has too many; null: all together have too many. */
  refused: (address: string | null) => void;
  /** Counts connections and calls. */
  arrivals: Arrivals;
}

/**
 * An HTTP server that answers every error in the JSON error shape, including errors that Node would answer itself.
 * A missing `Host` and an unknown `Expect` go to the app (`app.ts`); HTTP that cannot be parsed, or that does not
 * arrive in time, never becomes a request and is answered here.
 */
export function createHttpServer(
  app: RequestListener,
  options: ServerOptions = {},
  connections: ConnectionLimits | null = null,
): Server {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE,
      headersTimeout: HEADERS.timeout,
      requestTimeout: WHOLE_CALL,
      connectionsCheckingInterval: HEADERS.check,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...options,
      requireHostHeader: false,
    },
    app,
  );
  if (connections !== null) limitConnections(server, connections);
  server.on("request", (request, response) => {
    response.once("finish", () => {
      discardRest(request);
    });
  });
  server.on("checkExpectation", app);
  server.on("clientError", (error: ClientError, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    // An answer to HEAD has no body: a client would read it as the start of the next answer.
    const isHead = error.rawPacket?.subarray(0, 5).toString("latin1") === "HEAD ";
    socket.end(rawAnswer(new ApiError(codeOf(error)), !isHead));
  });
  return server;
}

/** Closes the connections above the limits. Those of an address get an answer first. */
function limitConnections(server: Server, { limits, isProxy, refused, arrivals }: ConnectionLimits): void {
  for (const event of ["connection", "request"]) server.on(event, () => (arrivals.count += 1));
  server.maxConnections = limits.connections;
  // Longer than any call waits before it is answered.
  server.timeout = (limits.waitSeconds + IDLE_SECONDS) * 1_000;
  server.on("drop", () => {
    refused(null);
  });
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    const client = clientAt(address);
    const count = open.get(client) ?? 0;
    if (count >= limits.addressConnections && !isProxy(address)) {
      refused(client);
      // It is closed before the event loop reads a call from it.
      socket.end(rawAnswer(tooManyConnections(limits.addressConnections), true));
      socket.destroySoon();
      return;
    }
    open.set(client, count + 1);
    socket.once("close", () => {
      if (open.get(client) === 1) open.delete(client);
      else open.set(client, (open.get(client) ?? 0) - 1);
    });
  });
}

function tooManyConnections(limit: number): ApiError {
  const message = `This address has ${limit.toString()} connections, as many as it may. Close some, or use them for further calls.`;
  return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
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

function rawAnswer(error: ApiError, withBody: boolean): string {
  const body = JSON.stringify(error.body);
  const lines = [
    `HTTP/1.1 ${error.status.toString()} ${error.errorCode}`,
    ...(error.retryAfter === null ? [] : [`Retry-After: ${error.retryAfter.toString()}`]),
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
