import type { ZodOpenApiPathsObject } from "zod-openapi";

import { type ErrorCode, ERRORS } from "../../domain/error-codes.ts";
import { whereOf } from "../pages/errors.ts";
import { htmlOperation } from "./public-operation.ts";

/** The last operation of the document: its description has the table of all error codes. */
export function errorsPath(): ZodOpenApiPathsObject {
  return {
    "/docs/errors": {
      get: htmlOperation("getErrorCodes", "Errors", "All error codes as a page", errorTable()),
    },
  };
}

/** All codes as Markdown. `doc_url` is relative to this document. */
function errorTable(): string {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map(
    (code) =>
      `| ${whereOf(code)} | \`${code}\` | ${ERRORS[code].message} | [docs/errors#${code}](docs/errors#${code}) |`,
  );
  return [
    "A status shows that an HTTP answer has the code; “request” shows that an accepted request can fail with it later.",
    "",
    "| Status | `error_code` | `message` | `doc_url` |",
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}
