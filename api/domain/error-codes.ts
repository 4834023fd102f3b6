import { ERROR_ENTRIES, type ErrorEntry } from "./error-table.ts";

type Entries = typeof ERROR_ENTRIES;
export type ErrorCode = keyof Entries;
export type HttpErrorCode = {
  [Code in ErrorCode]: Entries[Code] extends { status: number } ? Code : never;
}[ErrorCode];
export type RequestFailureCode = {
  [Code in ErrorCode]: Entries[Code] extends { failsRequest: true } ? Code : never;
}[ErrorCode];

export const ERRORS: Record<ErrorCode, ErrorEntry> = ERROR_ENTRIES;

const CODES = Object.keys(ERROR_ENTRIES) as ErrorCode[];

function isHttpError(code: ErrorCode): code is HttpErrorCode {
  return ERRORS[code].status !== undefined;
}

function isRequestFailure(code: ErrorCode): code is RequestFailureCode {
  return ERRORS[code].failsRequest === true;
}

/** Codes of HTTP answers, by status. */
export const HTTP_ERROR_CODES: readonly HttpErrorCode[] = CODES.filter(isHttpError);
/** Codes with which an accepted request can fail later, for causes outside the database. */
export const REQUEST_FAILURES: readonly RequestFailureCode[] = CODES.filter(isRequestFailure);

export function statusOf(code: HttpErrorCode): number {
  return ERROR_ENTRIES[code].status;
}

/** One entry of `errors`: the field, a short code, and a sentence for a person. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
}

/** The body of every error. */
export interface ErrorBody {
  error_code: HttpErrorCode;
  message: string;
  errors: FieldError[] | null;
}

interface ErrorOptions {
  /** Seconds for the `Retry-After` header, where the code has one. */
  retryAfter?: number;
  /** Replaces the code's own message where more is known. */
  message?: string;
  /** For the log. */
  cause?: Error;
}

/** An answer that refuses the call. Thrown by commands and routes; becomes the error body. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly errorCode: HttpErrorCode;
  readonly errors: FieldError[] | null;
  readonly retryAfter: number | null;

  constructor(errorCode: HttpErrorCode, errors: FieldError[] | null = null, options: ErrorOptions = {}) {
    super(options.message ?? ERRORS[errorCode].message, options.cause === undefined ? {} : { cause: options.cause });
    this.errorCode = errorCode;
    this.errors = errors;
    this.retryAfter = options.retryAfter ?? null;
  }

  get status(): number {
    return statusOf(this.errorCode);
  }

  get body(): ErrorBody {
    return { error_code: this.errorCode, message: this.message, errors: this.errors };
  }
}

/** A refusal caused by one field: `field` has the name that the caller used. */
export function fieldError(errorCode: HttpErrorCode, field: string, message: string): ApiError {
  return new ApiError(errorCode, [{ field, code: errorCode, message }]);
}

/** What `errors` says of a field that was left out. */
export function requiredField(field: string): FieldError {
  return { field, code: "required", message: "This field is required." };
}
