/** `1 warning`, `2 warnings`. @param many the plural, when it is not `one` with an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toString()} ${count === 1 ? one : many}`;
}
