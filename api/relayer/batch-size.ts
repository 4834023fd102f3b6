/**
 * How many of the claimed requests, from the first, may share a transaction. Each time a whole batch reverted, its requests
 * halve the size of their next batch. Requests in front of them are not delayed.
 * @param returns how often each request was in a batch that reverted, in order.
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
