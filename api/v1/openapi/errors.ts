import type { ZodOpenApiResponseObject } from "zod-openapi";

import { ApiError, ERRORS, HTTP_ERROR_CODES, type HttpErrorCode, statusOf } from "../../domain/error-codes.ts";
import type { Endpoint } from "../endpoint.ts";
import { headerRefs, RATE_HEADERS } from "./headers.ts";

/** Codes that any endpoint under `/v1` can answer. */
const ANYWHERE: readonly HttpErrorCode[] = [
  "unauthorized",
  "forbidden",
  "payload_too_large",
  "validation_failed",
  "rate_limited",
  "internal_error",
  "unavailable",
];
const WITH_BODY: readonly HttpErrorCode[] = ["malformed_json", "unsupported_media_type"];
/** `malformed_request`: the body breaks off. */
const WITH_FILE: readonly HttpErrorCode[] = ["malformed_request", "unsupported_media_type"];

/** Every code that the endpoint can answer: its own, and those that follow from its inputs. */
export function errorCodesOf(endpoint: Endpoint): HttpErrorCode[] {
  const codes = [
    ...ANYWHERE,
    ...(endpoint.body === undefined ? [] : WITH_BODY),
    ...(endpoint.takesFile === true ? WITH_FILE : []),
    // A path with a malformed percent-escape is answered with 404.
    ...(endpoint.path.includes(":") ? (["not_found"] as const) : []),
    ...(endpoint.idempotent === true ? (["idempotency_key_reused", "answer_expired"] as const) : []),
    ...(endpoint.errors ?? []),
  ];
  return codesInOrder(codes);
}

function codesInOrder(codes: readonly HttpErrorCode[]): HttpErrorCode[] {
  return HTTP_ERROR_CODES.filter((code) => codes.includes(code));
}

type Responses = Record<string, ZodOpenApiResponseObject | { $ref: string }>;

/**
 * A response with up to this many codes is a shared component, named after them. A longer list belongs to one operation, and
 * its name would be unreadable.
 */
const MOST_SHARED_CODES = 3;

/** One response for each status. */
export function errorResponses(codes: readonly HttpErrorCode[]): Responses {
  return Object.fromEntries(
    groupsOf(codes).map((group) => [statusOf(group[0]), isShared(group) ? reference(group) : errorResponse(group)]),
  );
}

/** The responses that the others refer to. */
export function sharedErrorResponses(
  used: readonly (readonly HttpErrorCode[])[],
): Record<string, ZodOpenApiResponseObject> {
  const shared = used.flatMap(groupsOf).filter(isShared);
  const named = new Map(shared.map((group) => [componentName(group), group]));
  const inOrder = [...named].sort(([, [one]], [, [other]]) => place(one) - place(other));
  return Object.fromEntries(inOrder.map(([name, group]) => [name, errorResponse(group)]));
}

/** Codes of one status. */
type Group = [HttpErrorCode, ...HttpErrorCode[]];

function groupsOf(codes: readonly HttpErrorCode[]): Group[] {
  return [...Map.groupBy(codesInOrder(codes), statusOf).values()] as Group[];
}

function isShared(group: Group): boolean {
  return group.length <= MOST_SHARED_CODES;
}

function reference(group: Group): { $ref: string } {
  return { $ref: `#/components/responses/${componentName(group)}` };
}

function place(code: HttpErrorCode): number {
  return HTTP_ERROR_CODES.indexOf(code);
}

function errorResponse(codes: readonly HttpErrorCode[]): ZodOpenApiResponseObject {
  const [only, ...others] = codes;
  const list = codes.map((code) => `- \`${code}\`: ${ERRORS[code].message}`).join("\n");
  return {
    description: only !== undefined && others.length === 0 ? ERRORS[only].message : list,
    // Headers that are too large are refused before the call has an id.
    headers: only === "payload_too_large" ? {} : headerRefs(codes.flatMap(headersOf)),
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: {
            error_code: { type: "string", description: "What happened, as a word for programs.", enum: [...codes] },
            message: { type: "string", description: "What happened, and what to do next." },
            errors: { $ref: "#/components/schemas/FieldErrors" },
          },
          required: ["error_code", "message", "errors"],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function headersOf(code: HttpErrorCode) {
  switch (code) {
    case "unauthorized":
      return ["WWW-Authenticate", ...RATE_HEADERS] as const;
    case "rate_limited":
      return ["Retry-After", ...RATE_HEADERS] as const;
    case "quota_exceeded":
    case "unavailable":
      return ["Retry-After"] as const;
    default:
      return [];
  }
}

function exampleOf(code: HttpErrorCode) {
  const field = {
    field: "limt",
    code: "unknown_field",
    message: "There is no such field. Remove it, or correct its name. Valid fields: limit, offset, cursor.",
  };
  return new ApiError(code, code === "validation_failed" ? [field] : null).body;
}

/** Such as `RateLimitedOrQuotaExceeded`. */
function componentName(group: Group): string {
  return group
    .map((code) => code.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase()))
    .join("Or");
}
