import type { ChainClient } from "../chain/client.ts";
import { RangeTooLarge } from "../chain/query-logs.ts";

/**
 * Reads blocks in ranges that the provider accepts, one after the other.
 * @param read reads and keeps one range. It must keep nothing when it throws.
 */
export async function inRanges(
  client: ChainClient,
  from: number,
  to: number,
  read: (from: number, to: number) => Promise<void>,
): Promise<void> {
  for (let start = from; start <= to;) {
    const end = Math.min(to, start + client.logLimits.blocks.value - 1);
    try {
      await read(start, end);
    } catch (error) {
      if (error instanceof RangeTooLarge) continue;
      throw error;
    }
    start = end + 1;
  }
}
