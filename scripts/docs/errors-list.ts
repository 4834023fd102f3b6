import { type ErrorCode, ERRORS } from "../../api/domain/error-codes.ts";

/** Every error code as Markdown, with a heading, and so an anchor, for each code. */
export function errorsList(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.map((code) => `## ${code}\n\n_${whereOf(code)}._ ${ERRORS[code].message}`).join("\n\n");
}

function whereOf(code: ErrorCode): string {
  const { status, failsRequest } = ERRORS[code];
  if (status === undefined) return "A failed request";
  return `HTTP ${status.toString()}${failsRequest === true ? ", or a failed request" : ""}`;
}
