/** One line of the gas table: gas per item. */
export interface Row {
  readonly moneta: number;
  readonly openZeppelin?: number;
  readonly erc721a?: number;
  /** Moneta's figure under the rules of the Amsterdam hard fork. */
  readonly amsterdam?: number;
}

export type Rows = Record<string, Row>;

/** The end of a row's name. */
export function of(count: number): string {
  return count === 1 ? "batch of 1" : `batch of ${count}, per item`;
}
