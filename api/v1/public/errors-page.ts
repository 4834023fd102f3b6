import type { Response } from "express";

import { type ErrorCode, ERRORS } from "../../domain/error-codes.ts";
import { escapeWithCode, sendHtml } from "./html.ts";

const INTRODUCTION =
  'Every error body is <code>{"error_code", "message", "errors"}</code>. A status shows that an HTTP answer has the code; ' +
  "“request” shows that an accepted request can fail with it later.";

/** `/docs/errors`: every error code, each with an anchor of the same name. */
export function sendErrorsPage(response: Response): void {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const { message } = ERRORS[code];
    return `      <tr id="${code}"><td>${whereOf(code)}</td><td><a href="#${code}"><code>${code}</code></a></td><td>${escapeWithCode(message)}</td></tr>`;
  });
  const body = [
    `    <p>${INTRODUCTION}</p>`,
    "    <table>",
    "      <tr><th>Status</th><th>Code</th><th>Message</th></tr>",
    ...rows,
    "    </table>",
  ].join("\n");
  sendHtml(response, { title: "Error codes", root: "../", body });
}

/** Where a code appears: the status of an answer, a failed request, or both. */
export function whereOf(code: ErrorCode): string {
  const { status, failsRequest } = ERRORS[code];
  return [...(status === undefined ? [] : [status.toString()]), ...(failsRequest === true ? ["request"] : [])].join(
    ", ",
  );
}
