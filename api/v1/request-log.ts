import { randomUUID } from "node:crypto";

import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { pinoHttp } from "pino-http";

/** A caller's own id is kept when it is short and plain: anything else could forge log lines. */
const PLAIN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * One line a call, and an id that the answer carries as `X-Request-Id`. Headers and bodies are never logged: they hold
 * tokens and unlockable content.
 */
export function requestLog(logger: Logger): RequestHandler {
  return pinoHttp({
    logger,
    genReqId: (request, response) => {
      const given = request.headers["x-request-id"];
      const id = typeof given === "string" && PLAIN_ID.test(given) ? given : randomUUID();
      response.setHeader("X-Request-Id", id);
      return id;
    },
    autoLogging: { ignore: (request) => request.url === "/healthz" || request.url === "/readyz" },
    customLogLevel: (_request, response, error) =>
      error !== undefined || response.statusCode >= 500 ? "error" : "info",
    serializers: {
      req: (request: { id: unknown; method: string; url: string }) => ({
        id: request.id,
        method: request.method,
        url: request.url,
      }),
      res: (response: { statusCode: number }) => ({ statusCode: response.statusCode }),
    },
  });
}
