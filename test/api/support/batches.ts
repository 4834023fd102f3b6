import { expect } from "chai";

import type { Answer } from "./api.ts";

/** What an item of a batch was answered with. */
interface Result {
  request_id?: string;
  error_code?: string;
  message?: string;
  errors?: { field: string; code: string; message: string }[] | null;
}

export function resultsOf(answer: Answer): Result[] {
  expect(answer.status, answer.text).to.equal(200);
  return (answer.body as { results?: Result[] }).results ?? [];
}

/** The results in short: `ok`, or the code of the error and its fields. */
export function outcomes(answer: Answer): string[] {
  return resultsOf(answer).map(({ request_id: id, error_code: code, errors }) =>
    id === undefined ? [code, ...(errors ?? []).map(({ field }) => field)].join(" ") : "ok",
  );
}

export function times<T>(count: number, item: T): T[] {
  return Array.from({ length: count }, () => item);
}
