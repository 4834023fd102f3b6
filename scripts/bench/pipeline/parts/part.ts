import type { Row } from "../row.ts";

export interface Options {
  /** Smaller numbers, for a first look: under three minutes for all parts. */
  quick: boolean;
}

/** Measures some rows of the table and their baselines, in separate worlds. */
export interface Part {
  name: string;
  measure(options: Options): Promise<Row[]>;
}
