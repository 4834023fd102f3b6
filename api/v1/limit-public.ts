import type { RequestHandler } from "express";

import type { HttpDeps } from "./deps.ts";

/**
 * Counts the calls of each address to routes that need no token. Says once when a proxy's callers share its address, because the
 * service does not trust the proxy.
 */
export function limitPublic({
  rates,
  settings,
  logger,
}: Pick<HttpDeps, "rates" | "settings" | "logger">): RequestHandler {
  let warned = settings.trustProxy.length > 0;
  return async (request, response, next) => {
    if (!warned && request.get("x-forwarded-for") !== undefined) {
      warned = true;
      logger.warn(
        "a call came through a proxy, but TRUST_PROXY is not set: all callers share the proxy's address and its rate limits. Set TRUST_PROXY if the proxy is yours.",
      );
    }
    await rates.countPublic(request, response);
    next();
  };
}
