/** No lane has this number or a higher one. */
export const MOST_LANES = 64;

/** The numbers of the lanes to use: the first `count` that are not retired. Fewer, when there are no more numbers. */
export function lanesInUse(count: number, retired: readonly number[]): number[] {
  return [...Array(MOST_LANES).keys()].filter((lane) => !retired.includes(lane)).slice(0, count);
}
