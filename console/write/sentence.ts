import { ApiRefusal, ConnectionFailed } from "../../client/errors.ts";

/** An error as a sentence that says what to do next. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiRefusal) {
    const fields = error.fieldErrors.map(({ field, message }) => (field === "body" ? message : `${field}: ${message}`));
    return [error.body?.message ?? `The service answered with status ${error.status.toString()}.`, ...fields].join(" ");
  }
  if (error instanceof ConnectionFailed) return "The service did not answer. Check that it runs, then try again.";
  return error instanceof Error ? error.message : String(error);
}
