/**
 * How many of the claimed requests, from the first, may share a transaction. One that was in batches which reverted whole
 * halves the size with each; those before it are not held up by it.
 * @param returns of each request, in order.
 */
export function batchSize(returns: number[], most: number): number {
  let size = 0;
  let worst = 0;
  for (const count of returns) {
    worst = Math.max(worst, count);
    if (size + 1 > Math.max(1, most / 2 ** worst)) break;
    size += 1;
  }
  return size;
}
