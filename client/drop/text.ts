import { placeAt } from "../rules/json-fault.ts";

/** What a decoder writes in the place of bytes that are not UTF-8. */
const NOT_UTF8 = "\uFFFD";

/**
 * The text of a file, or why it has none.
 * @example
 * const read = textOfBytes(new TextEncoder().encode("name;image"));
 * if ("text" in read) console.log(read.text);
 */
export function textOfBytes(bytes: Uint8Array): { text: string } | { problem: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = new TextDecoder().decode(bytes);
    const { line, column } = placeAt(text, text.indexOf(NOT_UTF8));
    return {
      problem: `The file is not text in UTF-8: see line ${line.toString()}, column ${column.toString()}. Save it again, and choose UTF-8 as its encoding.`,
    };
  }
}
