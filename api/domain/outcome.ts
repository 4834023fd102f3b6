import type { FieldError, RequestFailureCode } from "./error-codes.ts";

/** What became of a request's call, as its block shows it. Kept beside the request until the block is deep enough. */
export type ChainOutcome =
  | { ok: true; collection: string | null; tokenId: string | null }
  | { ok: false; errorCode: RequestFailureCode; errors: FieldError[] | null };
