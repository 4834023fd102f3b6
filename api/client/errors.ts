import type { components } from "./document.ts";

/** The body of every error. */
export interface ErrorBody {
  error_code: string;
  /** What happened, and what to do next. */
  message: string;
  errors: components["schemas"]["FieldErrors"];
}

/** The service refused a call. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  /** null when the answer is not the service's own, such as that of a proxy. */
  readonly body: ErrorBody | null;

  constructor(status: number, body: ErrorBody | null) {
    super(describe(status, body));
    this.status = status;
    this.body = body;
  }
}

function describe(status: number, body: ErrorBody | null): string {
  if (body === null) return `HTTP status ${status.toString()}, without an error body of the service`;
  const fields = (body.errors ?? []).map(({ field, message }) => `${field}: ${message}`);
  return [`${status.toString()} ${body.error_code}: ${body.message}`, ...fields].join(" ");
}

/** @returns null when the value is not an error body. */
export function readErrorBody(value: unknown): ErrorBody | null {
  return typeof value === "object" && value !== null && "error_code" in value && "message" in value
    ? (value as ErrorBody)
    : null;
}

type Request = components["schemas"]["Request"];

/** A request ended as `failed`. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly request: Request;

  constructor(request: Request) {
    super(`Request ${request.request_id} failed: ${request.error_code ?? "no error code"}`);
    this.request = request;
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
