import { sql } from "kysely";

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
