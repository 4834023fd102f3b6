/** An error that the user can fix. Only its message is printed. */
export class Problem extends Error {
    name = "Problem";
}
/** Thrown when the user stops the program. Not an error. */
export class StopAsked extends Error {
    name = "StopAsked";
}
export function messageOf(error) {
    return error instanceof Error ? error.message : String(error);
}
/** The error code of the operating system, such as EADDRINUSE. */
export function codeOf(error) {
    return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
