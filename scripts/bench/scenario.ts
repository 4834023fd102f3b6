import type { Databases } from "../postgres/databases.ts";

/** What a scenario is measured with. */
export interface Lab {
  /** Folder of the project whose service is measured. */
  checkout: string;
  databases: Databases;
  /** Smaller numbers, for a first look. */
  quick: boolean;
  /** Folder for CPU profiles of the service; null: none are made. */
  profiles: string | null;
}

export interface Figure {
  what: string;
  /** What ends in `/s` is better when it is more, everything else when it is less. */
  unit: "/s" | "MiB/s" | "ms" | "MiB" | "";
  /** null: this system does not report it. */
  value: number | null;
  /** A limit that must hold. */
  atMost?: number;
}

/** Starts a service, measures it, checks what it did, and stops it. @throws when a result is wrong. */
export type Scenario = (lab: Lab) => Promise<Figure[]>;

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN;
}
