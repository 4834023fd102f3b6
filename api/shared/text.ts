/** `1 warning`, `2 warnings`. @param many the plural, when it is not `one` with an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toString()} ${count === 1 ? one : many}`;
}

/** The value of a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says what is wrong with the source of the text.
    return undefined;
  }
}

const OBEYED = /[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Escapes what a terminal would obey or show in another order, in texts that others may have written. In the form of JSON, so
 * a JSON text keeps its value. Line breaks stay.
 */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => (character === "\n" ? character : escaped(character)));
}

/** The same for a value that belongs into one line: with line breaks of its own it could look like further lines. */
export function inOneLine(value: string): string {
  return value.replace(OBEYED, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
