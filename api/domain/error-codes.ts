/*
 * Every `error_code` of the service: the only list. The statuses, the messages of error bodies, the published document and
 * docs/errors.md are all made from it.
 */

interface ErrorEntry {
  /** Status of an HTTP answer with this code. Absent: no answer has it. */
  status?: number;
  /** Whether an accepted request can fail with this code later, for a cause outside the database. */
  failsRequest?: true;
  /** What happened, and what to do next. */
  message: string;
}

const ERROR_ENTRIES = {
  malformed_json: {
    status: 400,
    message: "The body is not valid JSON in UTF-8. Correct the body and send it again.",
  },
  malformed_request: {
    status: 400,
    message: "The call is not valid HTTP. Check the request line and the headers; HTTP/1.1 requires `Host`.",
  },
  unauthorized: {
    status: 401,
    message:
      "The token is missing, unknown, expired or revoked. Send a valid token in `Authorization: Bearer <token>`.",
  },
  forbidden: { status: 403, message: "The token lacks the scope that this call needs. Use a token with that scope." },
  not_found: {
    status: 404,
    message: "Not found, or it belongs to another app. Check the path and the ids in it.",
  },
  method_not_allowed: {
    status: 405,
    message: "This path does not support the method. Use one of the methods in the `Allow` header.",
  },
  request_timeout: { status: 408, message: "The request did not arrive in time. Send it again." },
  idempotency_key_reused: {
    status: 409,
    message: "This Idempotency-Key was already used with a different path or body. Use a new key for a new request.",
  },
  not_retryable: {
    status: 409,
    message:
      "Only a request that has failed, and that no reorg has corrected, can be sent again. Look at its `status`.",
  },
  answer_expired: {
    status: 410,
    message:
      "An earlier call with this Idempotency-Key was accepted, and nothing was done now. Its answer is no longer stored. Look for what it created, such as its requests with `GET /v1/requests`, before you repeat it with a new key.",
  },
  payload_too_large: {
    status: 413,
    message: "The body, or the URL with the headers, is too large. Send a smaller request.",
  },
  unsupported_media_type: {
    status: 415,
    message:
      "The body has the wrong type. Send JSON in UTF-8 with `Content-Type: application/json`; to `POST /v1/media`, send the file itself with its media type.",
  },
  range_not_satisfiable: {
    status: 416,
    message: "The requested range is outside the content. `Content-Range` has the size of the content.",
  },
  expectation_failed: {
    status: 417,
    message: "The service supports no `Expect` header other than `100-continue`. Remove the header.",
  },
  validation_failed: {
    status: 422,
    message: "Some fields are missing, invalid or unknown. `errors` says what is wrong with each of them.",
  },
  adoption_not_permitted: {
    status: 422,
    message:
      "The owner of the contract has not permitted it. Let the owner sign the text of `POST /v1/collections/adopt/text`.",
  },
  user_identifier_taken: {
    status: 422,
    message: "Another wallet of this app already has this user identifier. Use that wallet, or another identifier.",
  },
  app_name_taken: {
    status: 422,
    message: "Another app of this service already has this name. Choose another name.",
  },
  wallet_not_found: {
    status: 422,
    message: "This app has no wallet with this address. Check the address, or create a wallet first.",
  },
  wallet_watch_only: {
    status: 422,
    message:
      "The wallet is watch-only: its key is not at this service, so the service cannot sign for it. Who has the key can move the token.",
  },
  collection_not_found: {
    status: 422,
    message: "This app has no collection at this address. Check the address, or wait until its request has completed.",
  },
  contract_not_supported: {
    status: 422,
    message:
      "The contract is neither ERC721 nor ERC1155, or it has no function for this call. Check the address; `errors` says what it lacks.",
  },
  not_supported_by_chain: {
    status: 422,
    message:
      "The chain does not support what this call needs: without delegation (EIP-7702), wallets cannot move or burn tokens of contracts of others.",
  },
  too_many_contracts: {
    status: 422,
    message:
      "The app follows as many contracts of others as it may. Stop following one with DELETE /v1/contracts/<address>, or ask the operator to raise the limit.",
  },
  too_many_webhooks: {
    status: 422,
    message: "The app has 10 webhooks, and may not have more. Change or remove one: GET /v1/webhooks lists them.",
  },
  token_not_found: {
    status: 422,
    message: "The token does not exist. Check the token id, or wait until its mint has completed.",
  },
  token_already_exists: {
    status: 422,
    failsRequest: true,
    message:
      "This ERC1155 token id already exists. Choose another id, or send `quantity` and `to_address` to mint more copies.",
  },
  insufficient_balance: {
    status: 422,
    failsRequest: true,
    message: "The wallet does not hold the token, or not enough copies of it. Check what the wallet holds.",
  },
  supply_exceeded: {
    status: 422,
    failsRequest: true,
    message: "The mint exceeds the collection's maximum supply, or the most copies that an id can have. Mint fewer.",
  },
  wrong_collection_type: {
    status: 422,
    message: "Some fields belong to the other collection type. Remove the fields that `errors` names.",
  },
  wrong_hosting: {
    status: 422,
    message:
      "The call needs the other kind of hosting (hosted or self-hosted). The message of the answer says which kind the collection has, and what to send instead.",
  },
  not_transferable: {
    status: 422,
    message: "The collection is soulbound: its tokens can never be transferred.",
  },
  token_busy: {
    status: 422,
    message: "An earlier transfer or burn of this token is still pending. Try again when that request is final.",
  },
  receiver_rejected: {
    status: 422,
    failsRequest: true,
    message: "The contract at the destination refused the token. Choose a destination that accepts it.",
  },
  service_cannot_mint: {
    status: 422,
    failsRequest: true,
    message: "The service is not a minter of this collection. Only its owner can appoint it.",
  },
  metadata_frozen: {
    status: 422,
    message:
      "The collection's metadata is frozen, or about to be. It can never change, and no new token with metadata can be minted.",
  },
  rate_limited: {
    status: 429,
    message: "Too many calls. Try again after the number of seconds in `Retry-After`.",
  },
  quota_exceeded: {
    status: 429,
    failsRequest: true,
    message:
      "The app has used up a quota, such as its gas budget for today or its media bytes. `message` or `errors` says which one, its limit, and what to do. `Retry-After` has the seconds after which it is worth trying again.",
  },
  internal_error: {
    status: 500,
    message:
      "The service failed unexpectedly. Give its operator the `X-Request-Id` of this answer: the log has the cause.",
  },
  unavailable: {
    status: 503,
    message: "The service cannot handle this call now. Try again after the number of seconds in `Retry-After`.",
  },
  execution_reverted: {
    failsRequest: true,
    message: "The contract reverted the call. `errors` has the decoded reason.",
  },
  out_of_gas: {
    failsRequest: true,
    message:
      "The call needs more gas than it may use; `errors` has the figures. If they show that the call ran, the service has measured the costs again: send a new request. Otherwise make the request smaller, or ask the operator to raise MAX_ITEM_GAS.",
  },
  media_unavailable: {
    failsRequest: true,
    message:
      "The media could not be fetched, or what came is not an image, a video or other media; `errors` says which. Check the URL, then send a new request.",
  },
  media_too_large: {
    failsRequest: true,
    message: "The media is larger than the service accepts. Send a new request with a smaller file.",
  },
  media_blocked: {
    failsRequest: true,
    message:
      "The media is at an address that the service does not contact. Use a public address, or ask the operator to add the host to ALLOWED_PRIVATE_HOSTS.",
  },
  transaction_refused: {
    failsRequest: true,
    message:
      "The chain's node refuses the transaction of this request, even without other requests in it. `errors` has the reason. Make the request smaller, or ask the operator to look at the log.",
  },
  nothing_moved: {
    failsRequest: true,
    message:
      "The call of the transfer or burn succeeded and moved nothing: the wallets have what they had before. The contract does not do what its functions promise (ask its operator), or the delegation of the wallet was changed outside of the service.",
  },
  ended_by_operator: {
    failsRequest: true,
    message:
      "The operator of the service ended the request before it was sent. Ask the operator for the reason before you send a new request.",
  },
  number_taken: {
    failsRequest: true,
    message:
      "A transaction that the service did not send used this request's number. Ask the operator to check the sending keys.",
  },
} as const satisfies Record<string, ErrorEntry>;

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
interface ErrorBody {
  error_code: HttpErrorCode;
  message: string;
  errors: FieldError[] | null;
}

interface ErrorOptions {
  /** Seconds for the `Retry-After` header, where the code has one. */
  retryAfter?: number;
  /** Replaces the code's own message where more is known. */
  message?: string | null;
  /** For the log. */
  cause?: Error;
}

/** Codes that say too little: the reason is in the first field. */
const SAID_BY_FIELDS: readonly HttpErrorCode[] = ["validation_failed", "wrong_hosting"];
/** Most characters of a field's name in a message: the caller may have chosen it. */
const MAX_NAME_LENGTH = 60;

/**
 * The message of a refusal for its fields: the first one with its reason, and how many others there are.
 * @param total problems that were found. `errors` may have fewer.
 */
export function firstOf(errors: readonly FieldError[], total = errors.length): string | null {
  const [first] = errors;
  if (first === undefined) return null;
  const { field, message } = first;
  const name = field.length > MAX_NAME_LENGTH ? `${field.slice(0, MAX_NAME_LENGTH)}...` : field;
  const others = total > 1 ? ` ... and ${(total - 1).toString()} more: see \`errors\`.` : "";
  return `\`${name}\`: ${message}${others}`;
}

function messageOf(errorCode: HttpErrorCode, errors: readonly FieldError[] | null): string {
  const first = SAID_BY_FIELDS.includes(errorCode) ? firstOf(errors ?? []) : null;
  return first ?? ERRORS[errorCode].message;
}

/** An answer that refuses the call. Thrown by commands and routes; becomes the error body. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly errorCode: HttpErrorCode;
  readonly errors: FieldError[] | null;
  readonly retryAfter: number | null;

  constructor(errorCode: HttpErrorCode, errors: FieldError[] | null = null, options: ErrorOptions = {}) {
    super(options.message ?? messageOf(errorCode, errors), options.cause === undefined ? {} : { cause: options.cause });
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

/** A refusal of who makes the call. */
export function forbidden(message: string): ApiError {
  return new ApiError("forbidden", null, { message });
}

/** What `errors` says of a field that was left out. */
export function requiredField(field: string, message = "This field is required."): FieldError {
  return { field, code: "required", message };
}
