import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";

import { HTTP_ERRORS, type HttpErrorCode } from "../domain/error-codes.ts";

/** A server whose refusals of broken HTTP, which never reach the app, have the shape of every other error. */
export function createHttpServer(app: RequestListener): Server {
  const server = createServer(app);
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const code = error.code === "HPE_HEADER_OVERFLOW" ? "payload_too_large" : "malformed_json";
    // An answer to HEAD has no body: a client would take it for the beginning of the next answer.
    const isHead = error.rawPacket?.subarray(0, 5).toString("latin1") === "HEAD ";
    socket.end(rawError(code, !isHead));
  });
  return server;
}

function rawError(code: HttpErrorCode, withBody: boolean): string {
  const body = JSON.stringify({ error_code: code, errors: null });
  const lines = [
    `HTTP/1.1 ${HTTP_ERRORS[code].toString()} ${code}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${body.length.toString()}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${withBody ? body : ""}`;
}

/** Lets the calls under way finish, for so long; connections that only wait are closed at once. */
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
