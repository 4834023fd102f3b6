/** One line of the gas table: gas per item. */
export interface Row {
  /** With OpenZeppelin's storage. Absent where it makes no sense. */
  readonly moneta?: number;
  /** With compact storage, where it matters. */
  readonly compact?: number;
  readonly openZeppelin?: number;
  readonly erc721a?: number;
  /** Moneta's figure under the rules of the Amsterdam hard fork. */
  readonly amsterdam?: number;
  readonly compactAmsterdam?: number;
}

export type Rows = Record<string, Row>;

/** The end of a row's name. */
export function of(count: number): string {
  return count === 1 ? "batch of 1" : `batch of ${count}, per item`;
}
