/** @param milliseconds since 1970. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
