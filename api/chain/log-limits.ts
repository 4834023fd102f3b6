import { AdaptiveLimit } from "./adaptive-limit.ts";

/** Sizes of log queries. They become smaller when a provider refuses them. */
export interface LogLimits {
  /** Blocks in one query. */
  blocks: AdaptiveLimit;
  /** Addresses in one query. */
  addresses: AdaptiveLimit;
  /** With more addresses than this, queries name no address, and the logs are filtered here. */
  topicsAbove: number;
}

/** First and largest sizes of log queries. */
export interface LogQuerySizes {
  blocks: number;
  addresses: number;
  topicsAbove: number;
}

export const LOG_QUERY_SIZES: LogQuerySizes = { blocks: 500, addresses: 500, topicsAbove: 2_000 };

export function createLogLimits({ blocks, addresses, topicsAbove }: LogQuerySizes): LogLimits {
  return { blocks: new AdaptiveLimit(blocks), addresses: new AdaptiveLimit(addresses), topicsAbove };
}
