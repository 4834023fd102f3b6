/** A part of some content: its first byte and its length. */
export interface Range {
  offset: number;
  length: number;
}

/**
 * Reads a `Range` header (RFC 9110). The package `range-parser` is no replacement: it refuses a suffix longer than the
 * content, which RFC 9110 answers with the whole, and it answers 416 to headers that servers must ignore ("bytes=5-2").
 * @returns null when the answer is the whole content: the header is missing or invalid, or asks for another unit or for
 *   several parts; "unsatisfiable" when the range is outside the content.
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
