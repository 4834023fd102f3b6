/*
 * For charts: when requests became final, how long they took and what they cost. The service counts requests when they become
 * final, in buckets of ten minutes. So reading a month takes the same time whatever the number of requests is.
 */

/** Milliseconds of a bucket. */
export const BUCKET = 600_000;
/** Most hours that can be shown at once. */
export const MAX_SERIES_HOURS = 720;
/** Most points of an answer. */
export const MAX_POINTS = 120;
/** Older buckets are deleted, in milliseconds: some hours after the oldest that can be shown. */
export const KEEP_SERIES = (MAX_SERIES_HOURS + 12) * 3_600_000;

/** Latencies are counted in ranges: this many for each doubling of the latency. Each range is wider than the one before. */
const STEPS_PER_DOUBLING = 4;
/** The last range has all that took longer: about 50 days. */
const LAST_RANGE = 128;

/** The number of the bucket that a time belongs to. @param at milliseconds since 1970. */
export function bucketOf(at: number): number {
  return Math.floor(at / BUCKET);
}

/** The range that a latency belongs to. @param milliseconds from acceptance to the final outcome. */
export function latencyRange(milliseconds: number): number {
  return Math.min(LAST_RANGE, Math.floor(Math.log2(Math.max(1, milliseconds)) * STEPS_PER_DOUBLING));
}

/** The middle of a range, in milliseconds. No latency of the range differs from it by more than 10 %. */
function middleOf(range: number): number {
  return Math.round(2 ** ((range + 0.5) / STEPS_PER_DOUBLING));
}

/** @param ranges how many requests each range has. @returns null when there is none. */
export function percentile(ranges: ReadonlyMap<number, number>, part: number): number | null {
  const total = [...ranges.values()].reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let left = Math.ceil(total * part);
  for (const [range, count] of [...ranges].sort(([one], [other]) => one - other)) {
    left -= count;
    if (left <= 0) return middleOf(range);
  }
  return null;
}

export interface SeriesSpan {
  /** The first bucket. */
  from: number;
  /** The bucket after the last. */
  to: number;
  /** Buckets of a point. */
  width: number;
}

/** How many buckets a point may have. Each of these numbers divides a day, so a point begins at every midnight (UTC). */
const WIDTHS = [1, 2, 3, 6, 12, 24, 48];

/**
 * All buckets of the last hours, the present one included, in at most `MAX_POINTS` points of the same width. Points begin at
 * multiples of their width, so that they stay the same from one call to the next.
 */
export function seriesSpan(hours: number, now: number): SeriesSpan {
  const [first, last] = [bucketOf(now - hours * 3_600_000), bucketOf(now)];
  for (const width of WIDTHS) {
    const [from, to] = [Math.floor(first / width) * width, (Math.floor(last / width) + 1) * width];
    if ((to - from) / width <= MAX_POINTS) return { from, to, width };
  }
  throw new RangeError(`${hours.toString()} hours have too many buckets for a chart`);
}

/** What one point shows. */
export interface SeriesPoint {
  /** Milliseconds since 1970. */
  at: number;
  completed: number;
  failed: number;
  /** Requests by range of latency. */
  latencies: Map<number, number>;
  feeWei: bigint;
}
