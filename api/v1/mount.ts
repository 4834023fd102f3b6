import { type Request, type RequestHandler, Router } from "express";

import type { IdempotentCall } from "../commands/idempotency.ts";
import { ApiError } from "../domain/error-codes.ts";
import { identityFor } from "./authenticate.ts";
import { bodyReader, type JsonBody } from "./body.ts";
import type { HttpDeps } from "./deps.ts";
import { type Endpoint, Verbatim } from "./endpoint.ts";
import { validate } from "./validate.ts";

/** `Retry-After` in seconds while the node serves another chain. */
const RETRY_ON_WRONG_CHAIN = 30;

/**
 * Routes for the endpoints, in their order. Any other method on one of their paths is a 405. Express tries its routes one
 * by one, so each first segment of a path (`accounts`, `nfts`) has a router of its own.
 */
export function mount(endpoints: readonly Endpoint[], deps: HttpDeps): RequestHandler {
  const readBody = bodyReader(deps.settings.limits.bodyBytes);
  const routers = new Map<string, Router>();
  for (const [segment, some] of Map.groupBy(endpoints, ({ path }) => firstSegment(path))) {
    routers.set(segment, routerOf(some, deps, readBody));
  }
  return (request, response, next) => {
    const router = routers.get(firstSegment(request.path));
    if (router === undefined) next();
    else router(request, response, next);
  };
}

/** Express ignores the case of paths. */
function firstSegment(path: string): string {
  const end = path.indexOf("/", 1);
  return (end === -1 ? path : path.slice(0, end)).toLowerCase();
}

function routerOf(endpoints: readonly Endpoint[], deps: HttpDeps, readBody: ReturnType<typeof bodyReader>): Router {
  const router = Router();
  for (const endpoint of endpoints) {
    router[endpoint.method](endpoint.path, handlerOf(endpoint, deps, readBody));
  }
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    router.all(path, refuseMethod(methodsOf(endpoints, path)));
  }
  return router;
}

function handlerOf(endpoint: Endpoint, deps: HttpDeps, readBody: ReturnType<typeof bodyReader>): RequestHandler {
  return async (request, response) => {
    const { appId, scopes } = identityFor(request, endpoint.scope);
    if (endpoint.method !== "get") refuseOnWrongChain(deps);
    const params = validate(endpoint.params, request.params);
    const query = validate(endpoint.query, request.query);
    const body: JsonBody = endpoint.body === undefined ? { value: {}, text: "" } : await readBody(request, response);
    const answer = await endpoint.handle(deps, {
      appId,
      scopes,
      idempotency: endpoint.idempotent === true ? idempotencyOf(request, body.text) : null,
      params,
      query,
      body: endpoint.body === undefined ? undefined : validate(endpoint.body, body.value),
    });
    response.setHeader("Content-Type", "application/json; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    response.send(answer instanceof Verbatim ? answer.json : JSON.stringify(answer));
  };
}

/** While the node serves another chain, nothing is accepted: it could never run there. */
function refuseOnWrongChain(deps: HttpDeps): void {
  if (deps.chainProblem() === null) return;
  const message =
    "The service is connected to the wrong chain and accepts nothing until its operator corrects this. `/readyz` has the details.";
  throw new ApiError("unavailable", null, { retryAfter: RETRY_ON_WRONG_CHAIN, message });
}

function idempotencyOf(request: Request, text: string): IdempotentCall | null {
  const key = request.get("idempotency-key");
  if (key === undefined) return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    const message = "Must have 1 to 255 visible ASCII characters, without spaces.";
    throw new ApiError("validation_failed", [{ field: "Idempotency-Key", code: "invalid_format", message }]);
  }
  return { key, content: `${request.method} ${request.baseUrl}${request.path}\n${text}` };
}

function methodsOf(endpoints: readonly Endpoint[], path: string): string {
  const methods = endpoints.filter((endpoint) => endpoint.path === path).map(({ method }) => method.toUpperCase());
  return (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
}

function refuseMethod(allowed: string): RequestHandler {
  return (_request, response) => {
    response.set("Allow", allowed);
    throw new ApiError("method_not_allowed");
  };
}
