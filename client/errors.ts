import type { components } from "./document.ts";

type Schemas = components["schemas"];
/** What is wrong with each field, or null when the error concerns no field. */
export type FieldErrors = Schemas["FieldErrors"];

/** The body of every error. */
export interface ErrorBody {
  error_code: string;
  /** What happened, and what to do next. */
  message: string;
  errors: FieldErrors;
}

/**
 * The service refused a call. `answerOf` and the helpers of the client throw it.
 * @example
 * ```ts
 * try {
 *   await answerOf(client.POST("/v1/accounts", { body: { user_identifier: "alice" } }));
 * } catch (error) {
 *   if (!(error instanceof ApiRefusal) || error.errorCode !== "user_identifier_taken") throw error;
 *   console.log("Alice has a wallet already.");
 * }
 * ```
 */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  /** The HTTP status, 400 to 599. */
  readonly status: number;
  /** null when the answer is not the service's own, such as that of a proxy. */
  readonly body: ErrorBody | null;
  /** The header `X-Request-Id`: the operator finds the call in the service's log by it. null when the header is absent. */
  readonly callId: string | null;

  constructor(status: number, body: ErrorBody | null, callId: string | null = null) {
    super(describe(status, body));
    this.status = status;
    this.body = body;
    this.callId = callId;
  }

  /** One of the documented codes, such as `validation_failed`. null when the answer is not the service's own. */
  get errorCode(): string | null {
    return this.body?.error_code ?? null;
  }

  /** What is wrong with each field. Empty when the error concerns no field. */
  get fieldErrors(): NonNullable<FieldErrors> {
    return this.body?.errors ?? [];
  }
}

function describe(status: number, body: ErrorBody | null): string {
  if (body === null) return `HTTP status ${status.toString()}, without an error body of the service`;
  const fields = otherFields(body).map(({ field, message }) => `${field}: ${message}`);
  return [`${status.toString()} ${body.error_code}: ${body.message}`, ...fields].join(" ");
}

/** The wrong fields that the message does not name: that of `validation_failed` names the first one, with the reason. */
export function otherFields({ message: sentence, errors }: ErrorBody): NonNullable<FieldErrors> {
  return (errors ?? []).filter(({ field, message }) => !sentence.includes(`\`${field}\`: ${message}`));
}

/** @returns null when the value is not an error body. */
export function readErrorBody(value: unknown): ErrorBody | null {
  return typeof value === "object" && value !== null && "error_code" in value && "message" in value
    ? (value as ErrorBody)
    : null;
}

/** @param error the body that came with the status. */
export function refusalOf(response: Response, error: unknown): ApiRefusal {
  return new ApiRefusal(response.status, readErrorBody(error), response.headers.get("x-request-id"));
}

/** @param text the body as it came. It is not JSON when a proxy answered. */
export function refusalOfText(response: Response, text: string): ApiRefusal {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  return refusalOf(response, body);
}

/**
 * The service did not answer. If the call changes something, it may or may not have happened: repeat it with the same
 * `Idempotency-Key`.
 * @example
 * ```ts
 * try {
 *   await client.GET("/v1/collections");
 * } catch (error) {
 *   if (!(error instanceof ConnectionFailed)) throw error;
 *   console.error("Moneta cannot be reached:", error.code ?? error.message);
 * }
 * ```
 */
export class ConnectionFailed extends Error {
  override readonly name = "ConnectionFailed";

  /** The code of the network's error, such as `ECONNREFUSED`. null when it has none, as in browsers. */
  readonly code: string | null;

  constructor(tries: number, cause: unknown) {
    const code = networkCodeOf(cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    const details = code === null || reason.includes(code) ? reason : `${reason} (${code})`;
    super(`No answer from the service after ${tries === 1 ? "one try" : `${tries.toString()} tries`}: ${details}`, {
      cause,
    });
    this.code = code;
  }
}

/** The code of a network's error. Node's `fetch` puts that error into `cause`. */
export function networkCodeOf(error: unknown): string | null {
  const inner = error instanceof Error ? (error.cause ?? error) : error;
  return inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : null;
}

type Request = Schemas["Request"];

/**
 * A request ended as `failed`: nothing of it happened on the chain. The message has the reason.
 * @example
 * ```ts
 * try {
 *   await client.waitFor(requestId);
 * } catch (error) {
 *   if (!(error instanceof RequestFailed)) throw error;
 *   console.error(error.errorCode, error.message);
 * }
 * ```
 */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  /** The request as the service shows it. */
  readonly request: Request;

  constructor(request: Request) {
    const reason = [
      request.error_code ?? "no error code",
      ...(request.error_message == null ? [] : [request.error_message]),
    ];
    const fields = (request.errors ?? []).map(({ field, message }) => `${field}: ${message}`);
    super([`Request ${request.request_id} failed: ${reason.join(": ")}`, ...fields].join(" "));
    this.request = request;
  }

  /** 64 hexadecimal digits. */
  get requestId(): string {
    return this.request.request_id;
  }

  /** Why it failed, such as `receiver_rejected`. */
  get errorCode(): Request["error_code"] {
    return this.request.error_code;
  }

  /** The fields of the request that were the reason. Empty when it was none of them. */
  get fieldErrors(): NonNullable<FieldErrors> {
    return this.request.errors ?? [];
  }
}

/**
 * The request was not final within the timeout. It may still complete, so do not send it again without the same
 * `Idempotency-Key`: wait again.
 * @example
 * ```ts
 * try {
 *   await client.waitFor(requestId, { timeout: 5_000 });
 * } catch (error) {
 *   if (!(error instanceof RequestTimeout)) throw error;
 *   await client.waitFor(error.requestId);
 * }
 * ```
 */
export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  /** 64 hexadecimal digits. */
  readonly requestId: string;
  /** What it waited for at the last look; null: not known. Later versions of the service may have further words. */
  readonly waitingFor: string | null;

  constructor(requestId: string, waitingFor: string | null = null) {
    const reason = waitingFor === null ? "" : ` It waits: ${waitingFor}.`;
    super(`Request ${requestId} was not final within the timeout.${reason} It may still complete.`);
    this.requestId = requestId;
    this.waitingFor = waitingFor;
  }
}

/** Why a call is not a genuine event: a header is missing, it is too old, its signature is wrong, or its body is not an event. */
export type WebhookProblem = "headers" | "timestamp" | "signature" | "payload";

/**
 * The call to the app's URL does not come from the service. Answer it with a 4xx status and do nothing else.
 * @example
 * ```ts
 * try {
 *   await verifyWebhook(await request.text(), request.headers, secret);
 * } catch (error) {
 *   if (!(error instanceof WebhookRefused)) throw error;
 *   console.warn(error.problem, error.message);
 * }
 * ```
 */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
  /** What is wrong with the call. */
  readonly problem: WebhookProblem;

  constructor(problem: WebhookProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
