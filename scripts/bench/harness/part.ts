import type { Databases } from "./databases.ts";
import type { Row } from "./row.ts";

export interface Options {
  /** Smaller numbers, for a first look: under three minutes for all parts. */
  quick: boolean;
  /** Folder for CPU profiles of the service; null: none are made. */
  profiles: string | null;
  databases: Databases;
}

/** Measures some rows of the table and their baselines, in separate worlds. */
export interface Part {
  name: string;
  measure(options: Options): Promise<Row[]>;
}
