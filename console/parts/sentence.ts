import { ApiRefusal, ConnectionFailed, otherFields } from "../../client/errors.ts";

/** What happened, what to do next, and all fields that are wrong. */
export function sentenceOf(error: unknown): string {
  const fields = otherFieldsOf(error).map(({ field, message }) =>
    field === "body" ? message : `${field}: ${message}`,
  );
  return [messageOf(error), ...fields].join(" ");
}

/** What happened, and what to do next. Of the fields that are wrong, it names the first. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiRefusal)
    return error.body?.message ?? `The service answered with status ${error.status.toString()}.`;
  if (error instanceof ConnectionFailed) return "The service does not answer. Check that it runs, then try again.";
  return error instanceof Error ? error.message : String(error);
}

/** The wrong fields that the message does not name. */
export function otherFieldsOf(error: unknown): ReturnType<typeof otherFields> {
  return error instanceof ApiRefusal && error.body !== null ? otherFields(error.body) : [];
}
