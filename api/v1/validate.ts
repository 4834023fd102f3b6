import type { z } from "zod";

import { ApiError, type FieldError } from "../domain/error-codes.ts";

/** Most entries in `errors`, and longest field name there: the caller chooses both. */
const MAX_ERRORS = 100;
const MAX_FIELD_LENGTH = 200;

/** @throws ApiError `validation_failed`, with every wrong field. */
export function validate<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => fieldErrors(issue, input));
  throw new ApiError("validation_failed", errors.slice(0, MAX_ERRORS));
}

function fieldErrors(issue: z.core.$ZodIssue, input: unknown): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: nameOf([...issue.path, key]),
      code: "unknown_field",
      message: "There is no such field.",
    }));
  }
  const field = nameOf(issue.path);
  if (["invalid_type", "invalid_value"].includes(issue.code) && valueAt(input, issue.path) == null) {
    return [{ field, code: "required", message: "Must be given." }];
  }
  return [{ field, code: codeOf(issue), message: issue.message }];
}

function codeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
    case "invalid_union":
      return "wrong_type";
    case "too_big":
      return issue.origin === "array" || issue.origin === "string" ? "too_long" : "too_big";
    case "too_small":
      return issue.origin === "array" || issue.origin === "string" ? "too_short" : "too_small";
    case "invalid_format":
      return "invalid_format";
    case "custom":
      return typeof issue.params?.["code"] === "string" ? issue.params["code"] : "invalid";
    default:
      return "invalid";
  }
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "body" : path.map(String).join(".").slice(0, MAX_FIELD_LENGTH);
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
