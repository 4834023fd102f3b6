/** A value that differs between the database and the chain. */
export interface Difference {
  what: string;
  stored: string;
  chain: string;
}

/** Reads the rows after a row, in key order. null: from the first row. */
export type Pages<Row> = (after: Row | null) => Promise<Row[]>;

type Key = (string | number)[];

/**
 * Walks two ordered sides at once, with one page of each in memory. Rows with the same key come as a pair; a row that the
 * other side lacks comes alone.
 */
export async function* pairs<Row>(
  left: Pages<Row>,
  right: Pages<Row>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<[Row | undefined, Row | undefined]> {
  const [a, b] = [new Side(left), new Side(right)];
  for (;;) {
    const [one, other] = [await a.first(), await b.first()];
    if (one === undefined && other === undefined) return;
    const order = one === undefined ? 1 : other === undefined ? -1 : compareKeys(keyOf(one), keyOf(other));
    if (order <= 0) a.next();
    if (order >= 0) b.next();
    yield [order <= 0 ? one : undefined, order >= 0 ? other : undefined];
  }
}

class Side<Row> {
  readonly #pages: Pages<Row>;
  #page: Row[] | null = null;
  #last: Row | null = null;
  #position = 0;

  constructor(pages: Pages<Row>) {
    this.#pages = pages;
  }

  async first(): Promise<Row | undefined> {
    if (this.#page === null || (this.#position === this.#page.length && this.#page.length > 0)) {
      this.#page = await this.#pages(this.#last);
      this.#position = 0;
    }
    return this.#page[this.#position];
  }

  next(): void {
    this.#last = this.#page?.[this.#position] ?? this.#last;
    this.#position += 1;
  }
}

/** The order of the database: numbers by value, texts (ASCII only here) by code. */
function compareKeys(a: Key, b: Key): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other === undefined || one === other) continue;
    return one < other ? -1 : 1;
  }
  return 0;
}
