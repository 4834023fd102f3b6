import type { FieldError, RequestFailureCode } from "./error-codes.ts";

/** The outcome of a request's call in its block. Stored beside the request until the block is final. */
export type ChainOutcome =
  | { ok: true; collection: string | null; tokenId: string | null }
  | { ok: false; errorCode: RequestFailureCode; errors: FieldError[] | null };
