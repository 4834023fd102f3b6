import { ApiError } from "../../domain/error-codes.ts";

/** @throws ApiError `not_found` when nothing was found, or it belongs to another app. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw new ApiError("not_found");
  return value;
}
