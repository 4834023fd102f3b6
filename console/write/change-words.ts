export const NOTHING_CHANGED = "Nothing is different from before. Change a field, then save.";

/** The request announces a change on the chain. A collection with its own owner has none. */
export function titleOfChange(requestId: string | null): string {
  return requestId === null
    ? "The metadata is changed"
    : "The metadata is changed, and is being announced on the chain";
}
