import { AdaptiveLimit, limitOf } from "./limits.ts";
import { AnswerTooLarge, QueryTooLarge, RpcError } from "./errors.ts";
import type { Rpc, RpcBounds, RpcResult } from "./rpc.ts";

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

/** The answers to log queries. @throws QueryTooLarge, RpcError, ChainUnavailable */
export async function askForLogs(rpc: Rpc, queries: object[], bounds: RpcBounds = {}): Promise<unknown[]> {
  return (await post(rpc, queries, bounds)).map((result) => {
    if (result.ok) return result.value;
    const limit = limitOf(result.error, "eth_getLogs");
    if (limit === null || limit === "rate" || limit === "batch") throw result.error;
    throw new QueryTooLarge(result.error, limit);
  });
}

async function post(rpc: Rpc, queries: object[], bounds: RpcBounds): Promise<RpcResult[]> {
  try {
    const calls = queries.map((query) => ({ method: "eth_getLogs", params: [query] }));
    return await rpc.batch(calls, bounds);
  } catch (error) {
    if (error instanceof AnswerTooLarge) throw new QueryTooLarge(new RpcError(413, error.message, null), "results");
    throw error;
  }
}
