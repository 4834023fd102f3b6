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
