import { expect } from "chai";

import type { Answer } from "./api.ts";

interface Errors {
  error_code: string;
  errors: { field: string; code: string; message: string }[] | null;
}

/** The answer refuses with this code, naming exactly these fields (`field: code`) when any are given. */
export function expectRefusal(answer: Answer, status: number, code: string, fields?: Record<string, string>): void {
  const body = answer.body as Errors;
  expect({ status: answer.status, code: body.error_code }, answer.text).to.deep.equal({ status, code });
  if (fields === undefined) return;
  const named = Object.fromEntries((body.errors ?? []).map((error) => [error.field, error.code]));
  expect(named, answer.text).to.deep.equal(fields);
}

export function expectInvalid(answer: Answer, fields: Record<string, string>): void {
  expectRefusal(answer, 422, "validation_failed", fields);
}

/** @returns the id of the request that was accepted. */
export function expectAccepted(answer: Answer): string {
  expect(answer.status, answer.text).to.equal(200);
  const { request_id: id } = answer.body;
  expect(id).to.match(/^[0-9a-f]{64}$/);
  return id ?? "";
}
