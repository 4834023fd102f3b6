import { ApiError } from "../../domain/error-codes.ts";

/** @throws ApiError `not_found` when there is nothing, or nothing of this app's. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw new ApiError("not_found");
  return value;
}
