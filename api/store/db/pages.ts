import { sql } from "kysely";

/**
 * All rows of an ordered search, page by page.
 * @param read returns the first rows after a key; at the end none.
 */
export async function* pagesAfter<Row, Key>(
  start: Key,
  read: (after: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row[]> {
  for (let after = start; ;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = keyOf(last);
  }
}

/** The same, row by row. */
export async function* rowsAfter<Row, Key>(
  start: Key,
  read: (after: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row, undefined> {
  for await (const rows of pagesAfter(start, read, keyOf)) yield* rows;
}

/** Where a page ended: the creation time and the id of its last row. */
export interface Keyset {
  at: number;
  id: string;
}

/** The requested part of a listing of rows that have no row number. */
export interface KeysetQuery {
  limit: number;
  /** null: the first page. */
  after: Keyset | null;
}

export interface KeysetPage<T> {
  items: T[];
  /** Where the next page starts; null at the end. */
  next: Keyset | null;
}

/** The condition of the rows after a page, newest first. */
export function olderThan({ at, id }: Keyset) {
  return sql<boolean>`(created_at < ${at} or (created_at = ${at} and id < ${id}))`;
}

/** @param rows as fetched, newest first: up to one more than the page shows. */
export function keysetPage<T extends { created_at: number; id: string }>(
  rows: readonly T[],
  limit: number,
): KeysetPage<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, next: more ? { at: last.created_at, id: last.id } : null };
}

/** A listing without a counter is counted up to this number. */
export const MOST_COUNTED = 10_000;

/** Bytes after which no more metadata is read for a page. The API cuts its pages at this size. */
export const ENOUGH_BYTES = 4 * 1_048_576;

/** By their creation. */
export type Order = "newest" | "oldest";

/** How the row number of a row compares with that of the row before it. */
export const DIRECTIONS = {
  newest: { follows: "<", direction: "desc" },
  oldest: { follows: ">", direction: "asc" },
} as const;

/** The requested part of a listing: by offset, or after a cursor. */
export interface PageQuery {
  limit: number;
  /** Rows to skip; with a cursor, the number of rows before it. */
  offset: number;
  /** Cursor: the page starts after this row number. null: skip `offset` rows instead. */
  after: number | null;
}

export interface Page<T> {
  items: T[];
  /** Read before the items, so it never counts a row that arrives too late for the page. A row that is deleted in between is still counted. */
  total: number;
  limit: number;
  offset: number;
  /** Where the next page starts; null at the end. */
  next: Position | null;
  /** For each item: where a page starts that follows it. */
  positions: readonly Position[];
}

export interface Position {
  after: number;
  offset: number;
}

/** One row more than the page shows, to learn whether another page follows. */
export function rowsToFetch(page: PageQuery): number {
  return page.limit + 1;
}

/** With a cursor nothing is skipped, so deep pages stay fast. */
export function rowsToSkip(page: PageQuery): number {
  return page.after === null ? page.offset : 0;
}

/** The rows of a page, as the values of a compiled query. */
export type RowsWanted = Record<"limit" | "offset", number> & Record<"after", number | null>;

export function rowsWanted(page: PageQuery): RowsWanted {
  return { after: page.after, limit: rowsToFetch(page), offset: rowsToSkip(page) };
}

/** @param rows as fetched: up to one more than the page shows. */
export function pageOf<T>(rows: readonly T[], total: number, page: PageQuery, rowNumber: (row: T) => number): Page<T> {
  const items = rows.slice(0, page.limit);
  const positions = items.map((row, index) => ({ after: rowNumber(row), offset: page.offset + index + 1 }));
  return {
    items,
    total,
    limit: page.limit,
    offset: page.offset,
    next: rows.length > page.limit ? (positions.at(-1) ?? null) : null,
    positions,
  };
}
