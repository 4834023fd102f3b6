/** Which part of a listing is wanted: rows after a number of rows, or rows after one row. */
export interface PageQuery {
  limit: number;
  /** Rows to skip from the start of the listing, or how many came before `after`. */
  offset: number;
  /** Row number that the page starts behind; null: count `offset` rows from the start. */
  after: number | null;
}

export interface Page<T> {
  items: T[];
  total: number;
  limit: number;
  offset: number;
  /** Where the next page starts; null at the end. */
  next: Position | null;
}

export interface Position {
  after: number;
  offset: number;
}

/** Rows to fetch for a page: one more than it shows, which tells whether another page follows. */
export function rowsToFetch(page: PageQuery): number {
  return page.limit + 1;
}

/** Rows to skip: none behind a cursor, which is why a cursor does not slow down with depth. */
export function rowsToSkip(page: PageQuery): number {
  return page.after === null ? page.offset : 0;
}

/** @param rows as fetched, up to one more than the page shows. */
export function pageOf<T>(rows: readonly T[], total: number, page: PageQuery, rowNumber: (row: T) => number): Page<T> {
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  return {
    items,
    total,
    limit: page.limit,
    offset: page.offset,
    next: more ? { after: rowNumber(last), offset: page.offset + items.length } : null,
  };
}

export function mapPage<T, U>(page: Page<T>, change: (item: T) => U): Page<U> {
  return { ...page, items: page.items.map(change) };
}
