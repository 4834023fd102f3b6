import { randomUUID } from "node:crypto";

import type { Request, RequestHandler } from "express";
import type { Logger } from "pino";
import { pinoHttp } from "pino-http";

/** The caller's own id is kept when it is short and plain. Anything else could forge log lines. */
const PLAIN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Query parameters without personal data. */
const PLAIN_PARAMETERS = new Set(["limit", "offset", "cursor", "after", "status", "type"]);

/**
 * Writes one log line per call and gives each answer an `X-Request-Id`. Headers and bodies are never logged: they hold
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
      req: (request: { id: unknown; method: string; url: string; raw: Pick<Request, "ip"> }) => ({
        id: request.id,
        method: request.method,
        url: redactUrl(request.url),
        client: request.raw.ip,
      }),
      res: (response: { statusCode: number }) => ({ statusCode: response.statusCode }),
    },
  });
}

/** The URL without user identifiers: they can be names or email addresses of people. */
function redactUrl(url: string): string {
  const [path = "", ...query] = url.split("?");
  const shown = path.replace(/(\/accounts\/+user\/+).*/is, "$1[redacted]");
  if (query.length === 0) return shown;
  return `${shown}?${query.join("?").split("&").map(redactParameter).join("&")}`;
}

function redactParameter(parameter: string): string {
  const [name = ""] = parameter.split("=", 1);
  return PLAIN_PARAMETERS.has(name) ? parameter : "[redacted]";
}
