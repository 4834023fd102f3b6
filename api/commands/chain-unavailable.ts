import type { ChainUnavailable } from "../chain/errors.ts";
import { ApiError } from "../domain/error-codes.ts";

/** Seconds after which the caller may retry when the chain or the database was unavailable. */
export const RETRY_WHEN_UNAVAILABLE = 5;

/** The error of a call, or of an item of a batch, whose contracts the node could not read. */
export function chainUnavailable(error: ChainUnavailable | null): ApiError {
  return new ApiError("unavailable", null, {
    retryAfter: retryAfterOf(error),
    ...(error === null ? {} : { cause: error }),
  });
}

/** Seconds: longer than usual if the chain's provider asked for more. */
export function retryAfterOf(error: ChainUnavailable | null): number {
  return Math.max(RETRY_WHEN_UNAVAILABLE, Math.ceil((error?.retryAfter ?? 0) / 1_000));
}
