import { ApiError } from "../domain/error-codes.ts";

/** What was read or made of an item, or the error that the item is answered with. */
export type OrError<T> = T | ApiError;

export function isError(value: unknown): value is ApiError {
  return value instanceof ApiError;
}

/** @returns what `make` returns, or the `ApiError` that it throws. */
export function orError<T>(make: () => T): OrError<T> {
  try {
    return make();
  } catch (error) {
    if (isError(error)) return error;
    throw error;
  }
}

export function withoutErrors<T>(results: readonly OrError<T>[]): T[] {
  return results.flatMap((result) => (isError(result) ? [] : [result]));
}

/** @throws ApiError the error of the item */
export function unlessError<T>(result: OrError<T>): T {
  if (isError(result)) throw result;
  return result;
}
