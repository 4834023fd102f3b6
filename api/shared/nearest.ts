/** A name of more characters has no similar one: comparing takes time that grows with the square of the length. */
const MAX_LENGTH = 40;

/**
 * The name that differs least from a mistyped one: at most in a third of its characters, and in at most three. A character
 * that is missing, added or another one is a difference, and so are two neighbours that are swapped.
 * @returns null when none is similar.
 */
export function nearest(typed: string, names: readonly string[]): string | null {
  const wanted = plain(typed);
  if (wanted.length > MAX_LENGTH) return null;
  let best: { name: string; distance: number } | null = null;
  for (const name of names) {
    const candidate = plain(name);
    const most = Math.min(3, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    if (Math.abs(candidate.length - wanted.length) > most) continue;
    const distance = distanceOf(wanted, candidate);
    if (distance <= most && distance < (best?.distance ?? Infinity)) best = { name, distance };
  }
  return best?.name ?? null;
}

/** `userIdentifier` and `user-identifier` mean `user_identifier`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, "");
}

/** The Damerau-Levenshtein distance (of strings in which no swapped pair is changed again). */
function distanceOf(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
          ? at(before, column - 2) + 1
          : Infinity;
      next.push(Math.min(changed, swapped, at(last, column) + 1, at(next, column - 1) + 1));
    }
    [before, last] = [last, next];
  }
  return at(last, b.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? Infinity;
}
