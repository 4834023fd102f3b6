/** Part of some content: the first byte and how many. */
export interface Range {
  offset: number;
  length: number;
}

/**
 * Reads a `Range` header (RFC 9110).
 * @returns null when the whole is to be sent: there is no header, or it asks for something that servers may ignore (other
 *   units, several parts at once, nonsense); "unsatisfiable" when no byte of the content is in it.
 */
export function readRange(header: string | undefined, size: number): Range | "unsatisfiable" | null {
  const match = /^bytes=(\d{0,16})-(\d{0,16})$/.exec((header ?? "").trim());
  const [, first = "", last = ""] = match ?? [];
  if (match === null || (first === "" && last === "")) return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < offset) return null;
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset + 1 };
}
