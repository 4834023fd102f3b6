import { z } from "zod";

import { ApiError, type FieldError, firstOf, requiredField } from "../domain/error-codes.ts";

/** `errors` has at most this many entries, and field names of at most this length: the caller chooses both. */
const MAX_ERRORS = 100;
const MAX_FIELD_LENGTH = 200;

/** @throws ApiError `validation_failed`, with every wrong field, but no more than `most`. */
export function validate<S extends z.ZodType>(schema: S, input: unknown, most = MAX_ERRORS): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const { issues } = result.error;
  const errors: FieldError[] = [];
  const valid = fieldsOf(schema);
  for (const issue of issues) {
    if (errors.length >= most) break;
    errors.push(...fieldErrors(issue, { input, valid, most: most - errors.length }));
  }
  const total = issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);
  throw new ApiError("validation_failed", errors, { message: firstOf(errors, total) });
}

/**
 * Validates the body of a call, or an item of a batch. A form sends an empty text for a field that nobody filled in, so in a field
 * that takes null, an empty text counts as null.
 * @throws ApiError `validation_failed`
 */
export function validateBody<S extends z.ZodType>(schema: S, input: unknown, most?: number): z.output<S> {
  return validate(schema, withoutBlanks(schema, input), most);
}

function withoutBlanks(schema: z.ZodType, input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const blank = Object.keys(input).filter((name) => valueAt(input, [name]) === "");
  if (blank.length === 0) return input;
  const nullable = blank.filter((name) => fieldOf(schema, name)?.safeParse(null).success === true);
  return { ...input, ...Object.fromEntries(nullable.map((name) => [name, null])) };
}

/**
 * Validates the query of a call.
 * @throws ApiError `validation_failed`
 */
export function validateQuery<S extends z.ZodType>(schema: S, query: Record<string, unknown>): z.output<S> {
  const repeated = Object.keys(query).filter((name) => Array.isArray(query[name]));
  if (repeated.length === 0) return validate(schema, query);
  const message = "The URL has this parameter more than once. Send it once.";
  const errors = repeated
    .slice(0, MAX_ERRORS)
    .map((name) => ({ field: name.slice(0, MAX_FIELD_LENGTH), code: "repeated", message }));
  throw new ApiError("validation_failed", errors, { message: firstOf(errors, repeated.length) });
}

interface Context {
  input: unknown;
  /** Names of the fields that the input may have. */
  valid: readonly string[];
  most: number;
}

function fieldErrors(issue: z.core.$ZodIssue, { input, valid, most }: Context): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    // All input schemas that refuse unknown fields are those of a whole body or query.
    const known = issue.path.length === 0 ? valid : [];
    return issue.keys.slice(0, most).map((key, index) => ({
      field: nameOf([...issue.path, key]),
      code: "unknown_field",
      message: unknownField(key, known, index),
    }));
  }
  const field = nameOf(issue.path);
  const isWrong = issue.code === "invalid_type" || issue.code === "invalid_value";
  if (isWrong && issue.path.length > 0 && valueAt(input, issue.path) == null) return [requiredField(field)];
  return [{ field, ...wordsOf(issue) }];
}

/** The list of valid names has at most this many characters. */
const MAX_LIST_LENGTH = 400;

/** What `errors` says of an unknown field. The first one also lists the valid names. */
function unknownField(name: string, valid: readonly string[], index: number): string {
  const similar = sameIn(name, valid);
  const advice = similar === null ? "Remove it, or correct its name." : `Did you mean \`${similar}\`?`;
  return ["There is no such field.", advice, ...(index === 0 ? [listOf(valid)] : [])].join(" ").trimEnd();
}

/** Names that mean the same in different calls. */
const SAME: readonly (readonly string[])[] = [
  ["amount", "quantity", "supply", "initial_supply"],
  ["to_address", "initial_owner", "to", "owner", "recipient"],
  ["from_address", "from", "sender"],
  ["collection_address", "contract_address", "collection", "contract"],
];

/** What another call calls the same. */
function sameIn(name: string, valid: readonly string[]): string | null {
  return SAME.find((names) => names.includes(name))?.find((other) => valid.includes(other)) ?? null;
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return "";
  let length = 0;
  const listed = names.filter((name) => (length += name.length + 2) <= MAX_LIST_LENGTH);
  const rest = names.length - listed.length;
  return `Valid fields: ${listed.join(", ")}${rest > 0 ? ` and ${rest.toString()} more` : ""}.`;
}

function fieldsOf(schema: z.ZodType): string[] {
  return Object.keys(shapeOf(schema));
}

function fieldOf(schema: z.ZodType, name: string): z.ZodType | undefined {
  const shape = shapeOf(schema);
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in as z.ZodType);
  return schema instanceof z.ZodObject ? schema.shape : {};
}

/** Turns zod's issues into field errors with messages of the service. Zod's own text never reaches a caller. */
function wordsOf(issue: z.core.$ZodIssue): { code: string; message: string } {
  switch (issue.code) {
    case "invalid_type": {
      const type = TYPE_WORDS[issue.expected];
      return { code: "wrong_type", message: type === undefined ? WRONG_TYPE : `Must be ${type}.` };
    }
    case "too_big":
      return isSized(issue.origin)
        ? { code: "too_long", message: `Must have at most ${sizeOf(issue.origin, issue.maximum)}.` }
        : { code: "too_big", message: `Must be at most ${issue.maximum.toString()}.` };
    case "too_small":
      return isSized(issue.origin)
        ? { code: "too_short", message: `Must have at least ${sizeOf(issue.origin, issue.minimum)}.` }
        : { code: "too_small", message: `Must be at least ${issue.minimum.toString()}.` };
    case "invalid_value":
      return { code: "invalid", message: `Must be one of: ${issue.values.map(String).join(", ")}.` };
    case "custom":
      // Made by `refuse`, which gives both.
      return {
        code: typeof issue.params?.["code"] === "string" ? issue.params["code"] : "invalid",
        message: issue.message,
      };
    case "invalid_union":
      return { code: "wrong_type", message: WRONG_TYPE };
    case "invalid_format":
      return { code: "invalid_format", message: "Has the wrong format. See /docs for the accepted format." };
    default:
      return { code: "invalid", message: "Is not an accepted value. See /docs for the accepted values." };
  }
}

const WRONG_TYPE = "Has the wrong type. See /docs for the accepted types.";

const TYPE_WORDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  array: "an array",
  object: "a JSON object",
};

function isSized(origin: string): boolean {
  return origin === "array" || origin === "string";
}

function sizeOf(origin: string, size: number | bigint): string {
  const [one, many] = origin === "array" ? ["entry", "entries"] : ["character", "characters"];
  return `${size.toString()} ${Number(size) === 1 ? one : many}`;
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
