import type { components } from "./document.ts";

/** What the service answers to a call that it refuses. */
export interface ErrorBody {
  error_code: string;
  errors: components["schemas"]["FieldErrors"];
}

/** The service refused a call. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  /** null when something between here and the service answered. */
  readonly body: ErrorBody | null;

  constructor(status: number, body: ErrorBody | null) {
    super(`the service answered ${status.toString()}${body === null ? "" : ` ${JSON.stringify(body)}`}`);
    this.status = status;
    this.body = body;
  }
}

type Request = components["schemas"]["Request"];

/** A request ended as `failed`. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly request: Request;

  constructor(request: Request) {
    super(`request ${request.request_id} failed: ${request.error_code ?? "without a reason"}`);
    this.request = request;
  }
}

/** A request was not final in time. It may still complete. */
export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  readonly requestId: string;

  constructor(requestId: string) {
    super(`request ${requestId} is not done yet`);
    this.requestId = requestId;
  }
}
