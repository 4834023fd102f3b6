import type { Response } from "express";

import { type ErrorCode, ERRORS } from "../../domain/error-codes.ts";
import { WARNING_CODES, WARNINGS } from "../../../client/rules/warnings.ts";
import { escapeWithCode, sendHtml } from "./html.ts";

const INTRODUCTION =
  'Every error body is <code>{"error_code", "message", "errors"}</code>. A status shows that an HTTP answer has the code; ' +
  "“request” shows that an accepted request can fail with it later.";

const WARNINGS_INTRODUCTION =
  "A call that was accepted, and probably does not do what was meant, has <code>warnings</code> in its answer.";

/** `/docs/errors`: every code of errors and warnings, each with an anchor of the same name. */
export function sendErrorsPage(response: Response): void {
  const rows = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const { message } = ERRORS[code];
    return `      <tr id="${code}"><td>${whereOf(code)}</td><td>${linkTo(code)}</td><td>${escapeWithCode(message)}</td></tr>`;
  });
  const body = [
    `    <p>${INTRODUCTION}</p>`,
    "    <table>",
    "      <tr><th>Status</th><th>Code</th><th>Message</th></tr>",
    ...rows,
    "    </table>",
    `    <p>${WARNINGS_INTRODUCTION}</p>`,
    "    <table>",
    "      <tr><th>Code</th><th>What it says</th></tr>",
    ...WARNING_CODES.map(
      (code) => `      <tr id="${code}"><td>${linkTo(code)}</td><td>${escapeWithCode(WARNINGS[code])}</td></tr>`,
    ),
    "    </table>",
  ].join("\n");
  sendHtml(response, { title: "Error codes", root: "../", body });
}

function linkTo(code: string): string {
  return `<a href="#${code}"><code>${code}</code></a>`;
}

/** Where a code appears: the status of an answer, a failed request, or both. */
export function whereOf(code: ErrorCode): string {
  const { status, failsRequest } = ERRORS[code];
  return [...(status === undefined ? [] : [status.toString()]), ...(failsRequest === true ? ["request"] : [])].join(
    ", ",
  );
}
