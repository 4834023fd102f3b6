import { type RawBuilder, sql } from "kysely";

import { MAX_SEARCH_LENGTH } from "../../domain/filters.ts";

const LAST_CODE_POINT = 0x10ffff;
/** These code points are not characters: UTF-16 uses them for pairs. */
const SURROGATES = { first: 0xd800, last: 0xdfff };

/** How a text begins, as the indexes have it. @param column its name */
export function beginningOf(column: string): RawBuilder<string> {
  return sql<string>`lower(substr(${sql.ref(column)}, 1, ${sql.lit(MAX_SEARCH_LENGTH)}))`;
}

/**
 * The condition that a text begins with another one, whatever the case of A to Z is. It is one range of an index on
 * `beginningOf(column)`.
 * @param search at most `MAX_SEARCH_LENGTH` characters
 */
export function beginsWith(column: string, search: string): RawBuilder<boolean> {
  // As `lower` of both engines does, where the order of text is that of its bytes.
  const prefix = search.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const beginning = beginningOf(column);
  const after = firstAfter(prefix);
  return after === null
    ? sql<boolean>`${beginning} >= ${prefix}`
    : sql<boolean>`${beginning} >= ${prefix} and ${beginning} < ${after}`;
}

/** The first text after all that begin with the prefix, in the order of their bytes; null when there is none. */
export function firstAfter(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const next = (points.pop() ?? 0) + 1;
    if (next > LAST_CODE_POINT) continue;
    return String.fromCodePoint(...points, next === SURROGATES.first ? SURROGATES.last + 1 : next);
  }
  return null;
}
