import type { Database } from "../../../../api/store/db/database.ts";
import type { PageQuery } from "../../../../api/store/db/pages.ts";
import { LARGE } from "../support/large-database.ts";

/** The large database, for the functions of the store that a tour calls. */
export type Tour = Pick<Database, "read" | "write">;

/** Now, in milliseconds since 1970. */
export const NOW = 1_000;

/** For work that the apps share. */
export const SHARES = { shared: 32, ofApp: 4, most: 256 };

/** The deepest offset that the API accepts. */
export const DEEPEST = 10_000;

/** Every kind of page of a listing: the first, a deep one, and one after a cursor. */
export const PAGES: readonly PageQuery[] = [
  { limit: 30, offset: 0, after: null },
  { limit: 30, offset: DEEPEST, after: null },
  { limit: 30, offset: 0, after: LARGE / 2 },
];

/** The first items of a walk that would read everything. */
export async function firstPages<T>(pages: AsyncIterable<T>, count: number): Promise<T[]> {
  const read: T[] = [];
  for await (const page of pages) {
    read.push(page);
    if (read.length === count) break;
  }
  return read;
}

/** Milliseconds of CPU that the process has used. Unlike the time of a clock, it does not grow while other processes run. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The least CPU time of several tries, in milliseconds: what the work takes while the process does nothing else. */
export async function bestOf(tries: number, work: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let count = 0; count < tries; count++) {
    const start = cpuTime();
    await work();
    best = Math.min(best, cpuTime() - start);
  }
  return best;
}
