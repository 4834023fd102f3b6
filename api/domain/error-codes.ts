/** Every `error_code` that the service can answer or store: the only list, published from here. */

/** Codes of an HTTP answer, with their status. */
export const HTTP_ERRORS = {
  malformed_json: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_key_reused: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  validation_failed: 422,
  user_identifier_taken: 422,
  wallet_not_found: 422,
  collection_not_found: 422,
  contract_not_supported: 422,
  token_not_found: 422,
  token_already_exists: 422,
  insufficient_balance: 422,
  supply_exceeded: 422,
  wrong_collection_type: 422,
  wrong_hosting: 422,
  token_busy: 422,
  receiver_rejected: 422,
  service_cannot_mint: 422,
  metadata_frozen: 422,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  unavailable: 503,
} as const;
export type HttpErrorCode = keyof typeof HTTP_ERRORS;

/** Codes with which an accepted request can fail later, for causes outside the database. */
export const REQUEST_FAILURES = [
  "execution_reverted",
  "receiver_rejected",
  "service_cannot_mint",
  "media_unavailable",
  "media_too_large",
  "media_blocked",
  "supply_exceeded",
  "token_already_exists",
  "insufficient_balance",
  "number_taken",
] as const;
export type RequestFailureCode = (typeof REQUEST_FAILURES)[number];

/** One entry of `errors`: which field, why (a short code), and words for a person. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
}

/** An answer that refuses the call. Thrown by commands and routes; becomes the error body. */
export class ApiError extends Error {
  readonly errorCode: HttpErrorCode;
  readonly errors: FieldError[] | null;
  /** Seconds for the `Retry-After` header, where the code has one. */
  readonly retryAfter: number | null;

  constructor(errorCode: HttpErrorCode, errors: FieldError[] | null = null, options: { retryAfter?: number } = {}) {
    super(errorCode);
    this.name = "ApiError";
    this.errorCode = errorCode;
    this.errors = errors;
    this.retryAfter = options.retryAfter ?? null;
  }

  get status(): number {
    return HTTP_ERRORS[this.errorCode];
  }
}

/** A refusal caused by one field: `field` is named as the caller wrote it. */
export function fieldError(errorCode: HttpErrorCode, field: string, message: string): ApiError {
  return new ApiError(errorCode, [{ field, code: errorCode, message }]);
}
