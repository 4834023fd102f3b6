import { type Request, type RequestHandler, Router } from "express";

import type { IdempotentCall } from "../commands/idempotency.ts";
import { databaseFor } from "../commands/credential.ts";
import {
  BATCHES_AT_ONCE,
  CHECKS_AT_ONCE,
  EXPORTS_AT_ONCE,
  MAX_BATCH_BYTES,
  MAX_BODY_BYTES,
  MAX_PAGE_BYTES,
  PUBLIC_BODY_BYTES,
  READS_AT_ONCE,
  WAITING_BATCHES,
  WAITING_CHECKS,
  WAITING_EXPORTS,
  WAITING_READS,
} from "../config/limits.ts";
import { ApiError, requiredField } from "../domain/error-codes.ts";
import { type Identity, identityFor, requireStillValid } from "./authenticate.ts";
import { type BodyReader, bodyReader, NO_BODY } from "./body.ts";
import type { HttpDeps } from "./deps.ts";
import { refuseMethod } from "./errors.ts";
import { discardRest, fileBody } from "./file-body.ts";
import { type Call, type Endpoint, type Exchange, SENT, Verbatim } from "./endpoint.ts";
import { Gate } from "./gate.ts";
import { nameRoute } from "./measure.ts";
import { IDEMPOTENCY_KEY, X_IDEMPOTENCY_KEY } from "./openapi/headers.ts";
import { answerBody } from "./schemas/pages.ts";
import { APP_HEADER } from "./console-session.ts";
import { validate, validateBody, validateQuery } from "./validate.ts";

/** `Retry-After` in seconds while the node serves another chain. */
const RETRY_ON_WRONG_CHAIN = 30;

/** The gates of calls that cost much. All others need no place. */
function openGates({ settings, arrivals }: HttpDeps) {
  const common = {
    seconds: settings.limits.waitSeconds,
    arrivals,
    hint: "Try again after the number of seconds in `Retry-After`.",
  };
  return {
    /** They take memory from the moment when their bodies are read. */
    batches: new Gate({
      ...common,
      name: "batches",
      running: BATCHES_AT_ONCE,
      waiting: WAITING_BATCHES,
      hint: "It stored nothing of the batch. Repeat the call, with the same Idempotency-Key, after the number of seconds in `Retry-After`.",
    }),
    /** Making their answers takes time. */
    reads: new Gate({
      ...common,
      name: "calls that read",
      running: READS_AT_ONCE,
      waiting: WAITING_READS,
    }),
    /** Each has a file and a snapshot, and keeps its place until its caller has read everything. */
    exports: new Gate({
      ...common,
      name: "exports",
      running: EXPORTS_AT_ONCE,
      waiting: WAITING_EXPORTS,
    }),
    /** The node runs the code of strangers for them. */
    checks: new Gate({
      ...common,
      name: "checks of receivers",
      running: CHECKS_AT_ONCE,
      waiting: WAITING_CHECKS,
    }),
  };
}

/** Handlers of endpoints without an app do not see it: their calls have no `appId` (`ServiceCall`). */
const NO_APP = "";

/** Routes for the endpoints, in their order. Any other method on one of their paths is a 405. */
export function mount(endpoints: readonly Endpoint[], deps: HttpDeps): RequestHandler {
  const batch = bodyReader(MAX_BATCH_BYTES, deps.bytes, { compressed: false });
  const single = bodyReader(MAX_BODY_BYTES, deps.bytes);
  const gates = openGates(deps);
  const router = Router();
  for (const endpoint of endpoints) {
    const readBody = endpoint.batch === true ? batch : single;
    router[endpoint.method](endpoint.path, handlerOf(endpoint, deps, readBody, gateOf(endpoint, gates)));
  }
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    const allowed = methodsOf(endpoints, path);
    router.all(path, (_request, response) => {
      nameRoute(response, `/v1${path}`);
      refuseMethod(response, allowed);
    });
  }
  return router;
}

/** Where a call waits for a place; null: it needs none. */
function gateOf(endpoint: Endpoint, { batches, reads, exports, checks }: ReturnType<typeof openGates>): Gate | null {
  if (endpoint.batch === true) return batches;
  if (endpoint.runsForeignCode === true) return checks;
  if (endpoint.sendsRows === true) return exports;
  return endpoint.method !== "get" || endpoint.withoutApp === true || endpoint.isSmall === true ? null : reads;
}

/**
 * Routes for the endpoints that everybody may call, to stand before authentication. All other calls pass. Every refused call
 * counts as one of a stranger, whatever is wrong with it.
 */
export function mountPublic(endpoints: readonly Endpoint[], deps: HttpDeps): RequestHandler {
  const open = endpoints.filter(({ caller }) => caller === "public");
  const single = bodyReader(PUBLIC_BODY_BYTES, deps.bytes);
  const router = Router();
  for (const endpoint of open) {
    const handle = handlerOf(endpoint, deps, single, null);
    router[endpoint.method](endpoint.path, async (request, response, next) => {
      await deps.rates.countPublic(request, response);
      try {
        await handle(request, response, next);
      } catch (error) {
        await deps.rates.countStranger(request, response);
        throw error;
      }
    });
  }
  const methods = new Set(open.map(({ method }) => method.toUpperCase()));
  return (request, response, next) => {
    // The router itself would answer OPTIONS.
    if (methods.has(request.method)) router(request, response, next);
    else next();
  };
}

/** What happens to a call after authentication. @param gate where it waits for a place; null: it needs none. */
function handlerOf(endpoint: Endpoint, deps: HttpDeps, readBody: BodyReader, gate: Gate | null): RequestHandler {
  return async (request, response) => {
    nameRoute(response, `/v1${endpoint.path}`);
    const identity = identityFor(response, endpoint, deps);
    const { credential } = identity;
    const appId = endpoint.withoutApp === true ? NO_APP : appOf(identity);
    if (endpoint.method !== "get" && endpoint.withoutApp !== true) refuseOnWrongChain(deps);
    const params = validate(endpoint.params, request.params);
    const query = validateQuery(endpoint.query, request.query);
    if (endpoint.stream !== undefined && credential !== null) {
      response.vary("Accept");
      const call = { ...identity, appId, credential, query };
      if (prefersStream(request)) return endpoint.stream.open(deps, request, response, call);
    }
    const call = { ...identity, appId, params, query, idempotency: null, body: undefined, file: null };
    // For the commands it is the `CommandContext`.
    const own = { ...deps, database: databaseFor(deps.database, credential) };
    const received = { endpoint, deps: own, identity, call, request, response };
    await (endpoint.takesFile === true ? answerFile(received) : answerJson(received, readBody, gate));
  };
}

/** A call whose body is not read yet. */
interface Received extends Exchange {
  endpoint: Endpoint;
  /** Its database also checks the caller. */
  deps: HttpDeps;
  identity: Identity;
  call: Call<unknown, unknown, unknown>;
}

async function answerFile(received: Received): Promise<void> {
  const { request } = received;
  try {
    // The same file always gets the same answer, so no idempotency key is stored.
    await answer(received, { file: fileBody(request) });
  } catch (error) {
    discardRest(request);
    throw error;
  }
}

async function answerJson(received: Received, readBody: BodyReader, gate: Gate | null): Promise<void> {
  const { endpoint, deps, identity, call, request, response } = received;
  const place = (await gate?.enter(call.appId, response)) ?? null;
  let handled = NO_BODY.handled;
  try {
    // Before the answer is made, which would be in vain. While the call waited, its caller may have stopped reading.
    if (endpoint.method === "get") deps.bytes.requireFit(request, identity, MAX_PAGE_BYTES);
    const waited = place?.waited === true || (endpoint.body !== undefined && !request.complete);
    const body = endpoint.body === undefined ? NO_BODY : await readBody(request, response, identity);
    ({ handled } = body);
    if (waited) await requireStillValid(deps, call.credential);
    await answer(received, {
      idempotency: endpoint.idempotent === true ? idempotencyOf(request, body) : null,
      body: endpoint.body === undefined ? undefined : validateBody(endpoint.body, body.value),
    });
  } finally {
    place?.leave(Number(response.get("Content-Length") ?? 0));
    handled();
  }
}

/** The endpoint's handler calls the command: `endpoints/nfts.ts`, for one, calls `commands/mint.ts`. Then the answer is sent. */
async function answer(received: Received, body: Partial<Received["call"]>): Promise<void> {
  const { endpoint, deps, identity, call, request, response } = received;
  const made = await endpoint.handle(deps, { ...call, ...body }, { request, response });
  if (made === SENT) return;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  if (made instanceof Verbatim && made.retryAfter !== null) {
    response.setHeader("Retry-After", made.retryAfter.toString());
  }
  // Express's `send` would parse the content type of each answer and write it again.
  deps.bytes.end(response, identity, made instanceof Verbatim ? Buffer.from(made.json) : answerBody(made));
}

/** Whether the caller prefers server-sent events to JSON. A caller who takes everything gets JSON. */
function prefersStream(request: Request): boolean {
  return request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";
}

/** @throws ApiError `validation_failed` when the operator has not chosen an app. */
function appOf({ appId }: Identity): string {
  if (appId !== null) return appId;
  const message = "The operator's session must say which app the call concerns: send its id in this header.";
  throw new ApiError("validation_failed", [{ ...requiredField(APP_HEADER), message }]);
}

/** While the node serves another chain, nothing is accepted: it could never run there. */
function refuseOnWrongChain(deps: HttpDeps): void {
  if (deps.chainProblem() === null) return;
  const message =
    "The service is connected to the wrong chain and accepts nothing until its operator corrects this. Its log has the details.";
  throw new ApiError("unavailable", null, { retryAfter: RETRY_ON_WRONG_CHAIN, message });
}

function idempotencyOf(request: Request, { text, value }: { text: string; value: unknown }): IdempotentCall | null {
  const given = [IDEMPOTENCY_KEY.name, X_IDEMPOTENCY_KEY.name].flatMap((name) => {
    const key = request.get(name);
    return key === undefined ? [] : [{ name, key }];
  });
  const [first, second] = given;
  if (first === undefined) return null;
  for (const { name, key } of given) {
    if (/^[\x21-\x7e]{1,255}$/.test(key)) continue;
    throw wrongHeader(name, "invalid_format", "Must have 1 to 255 visible ASCII characters, without spaces.");
  }
  if (second !== undefined && second.key !== first.key) {
    throw wrongHeader(
      second.name,
      "conflict",
      `Must equal ${first.name}, which means the same. Send only one of them.`,
    );
  }
  return { key: first.key, endpoint: `${request.method} ${request.baseUrl}${request.path}`, text, value };
}

function wrongHeader(field: string, code: string, message: string): ApiError {
  return new ApiError("validation_failed", [{ field, code, message }]);
}

function methodsOf(endpoints: readonly Endpoint[], path: string): string {
  const methods = endpoints.filter((endpoint) => endpoint.path === path).map(({ method }) => method.toUpperCase());
  return (methods.includes("GET") ? [...methods, "HEAD"] : methods).join(", ");
}
