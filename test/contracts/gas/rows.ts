/** Gas per item of one scenario, under the rules of one hard fork. */
export interface Figures {
  /** With OpenZeppelin's storage. Absent where it makes no sense. */
  readonly moneta?: number;
  /** With compact storage, where it matters. */
  readonly compact?: number;
  readonly openZeppelin?: number;
  readonly solady?: number;
  readonly erc721a?: number;
}

export type Measured = Record<string, Figures>;

/** One line of the gas tables: the figures under Prague rules. */
export interface Row extends Figures {
  /** The same under the rules of the Amsterdam hard fork. */
  readonly amsterdam: Figures;
}

export type Rows = Record<string, Row>;

/** The end of a row's name. */
export function of(count: number): string {
  return count === 1 ? "batch of 1" : `batch of ${count}, per item`;
}

/** Of a row's name: its mints go through the same relay for all contracts. */
export const RELAYED = "mint ERC721 through the relay";
