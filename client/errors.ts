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

/** The service refused a call. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
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

  get errorCode(): string | null {
    return this.body?.error_code ?? null;
  }

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

/** A request ended as `failed`. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
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

  get requestId(): string {
    return this.request.request_id;
  }

  get errorCode(): Request["error_code"] {
    return this.request.error_code;
  }

  get fieldErrors(): NonNullable<FieldErrors> {
    return this.request.errors ?? [];
  }
}

/** The request was not final within the timeout. It may still complete. */
export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  readonly requestId: string;

  constructor(requestId: string) {
    super(`Request ${requestId} was not final within the timeout. It may still complete.`);
    this.requestId = requestId;
  }
}

/** Why a call is not a genuine event. */
export type WebhookProblem = "headers" | "timestamp" | "signature" | "payload";

/** The call to the app's URL does not come from the service. Answer it with a 4xx status and do nothing else. */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
  readonly problem: WebhookProblem;

  constructor(problem: WebhookProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
