import { placeAt } from "../rules/json-fault.ts";

/** What a decoder writes in the place of bytes that it cannot read. */
const NOT_READ = "\uFFFD";

/**
 * The text of a file in UTF-8, or in UTF-16 with its byte order mark, as spreadsheets write "Unicode text". Or why it has none.
 * @example
 * const read = textOfBytes(new TextEncoder().encode("name;image"));
 * if ("text" in read) console.log(read.text);
 */
export function textOfBytes(bytes: Uint8Array): { text: string } | { problem: string } {
  const encoding = encodingOf(bytes);
  try {
    return { text: new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = new TextDecoder(encoding).decode(bytes);
    const { line, column } = placeAt(text, text.indexOf(NOT_READ));
    return {
      problem: `The file is not text in UTF-8: see line ${line.toString()}, column ${column.toString()}. Save it again, and choose UTF-8 as its encoding.`,
    };
  }
}

function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}
