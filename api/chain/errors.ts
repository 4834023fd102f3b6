import type { ProviderLimit } from "./provider-limits.ts";

/** The node does not answer, or its answer is not valid. Nothing is known about the chain: retry later. */
export class ChainUnavailable extends Error {
  override readonly name: string = "ChainUnavailable";
  /** Milliseconds after which the node may be asked again. Null: it did not say. */
  readonly retryAfter: number | null;

  constructor(message: string, options: ErrorOptions & { retryAfter?: number | null } = {}) {
    super(message, options);
    this.retryAfter = options.retryAfter ?? null;
  }
}

/** The node works, but its provider accepts no more calls for now. */
export class RateLimited extends ChainUnavailable {
  override readonly name = "RateLimited";

  /** @param retryAfter milliseconds. */
  constructor(retryAfter: number) {
    super(
      "the node works, but its provider limits the rate of calls: they continue when it allows. " +
        "If this happens often, use a plan with a higher limit",
      { retryAfter },
    );
  }
}

/** The answer was longer than the limit, and was not read to its end. A smaller question may have a shorter answer. */
export class AnswerTooLarge extends ChainUnavailable {
  constructor(limit: number) {
    super(`the node's answer is larger than ${limit.toString()} bytes`);
  }
}

/** The node answered a call with an error. This proves nothing about the state of the network. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: number;
  /** Revert data, where the node gives it. */
  readonly data: string | null;

  constructor(code: number, message: string, data: string | null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The provider refuses a log query because of its size. A smaller one may pass. */
export class QueryTooLarge extends RpcError {
  override readonly name = "QueryTooLarge";
  /** What to make smaller. */
  readonly limit: Exclude<ProviderLimit, "rate" | "batch">;

  constructor(error: RpcError, limit: Exclude<ProviderLimit, "rate" | "batch">) {
    super(error.code, error.message, null);
    this.limit = limit;
  }
}

/** Text of an error for the operator's pages. A node's own message may contain a URL or a key, so only the log has it. */
export function describeError(error: unknown): string {
  if (error instanceof QueryTooLarge) {
    return (
      `the node's provider refuses log queries of every size (error code ${error.code.toString()}): ` +
      "use a provider that allows `eth_getLogs`"
    );
  }
  if (error instanceof RpcError) return `the node answered a call with error code ${error.code.toString()}`;
  return error instanceof Error ? error.message : String(error);
}
