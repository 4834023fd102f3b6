/** Values of a JSON text, counted as generously as the service counts them. Never recurses: the caller chooses the depth. */
export function valuesOf(value: unknown): number {
  let count = 1;
  for (let level = [value]; level.length > 0;) {
    const containers = level.filter((one): one is object => typeof one === "object" && one !== null);
    level = containers.flatMap((one) => Object.values<unknown>(one as Record<string, unknown>));
    // An empty array counts as if it had an entry.
    count += level.length + containers.length;
  }
  return count;
}
