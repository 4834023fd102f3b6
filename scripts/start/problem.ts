/** Something that a person can mend: its message is all that is shown. */
export class Problem extends Error {
  override readonly name = "Problem";
}

/** The reason for which everything stops when the user asks for it: no error. */
export class StopAsked extends Error {
  override readonly name = "StopAsked";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the operating system, such as EADDRINUSE. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
