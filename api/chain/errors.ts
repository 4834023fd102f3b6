/** The node does not answer, or its answer is not valid. Nothing is known about the chain: retry later. */
export class ChainUnavailable extends Error {
  override readonly name = "ChainUnavailable";
}

/** The answer was longer than the limit, and was not read to its end. A smaller question may have a shorter answer. */
export class AnswerTooLarge extends ChainUnavailable {
  constructor(limit: number) {
    super(`the node's answer is larger than ${limit.toString()} bytes`);
  }
}

/** The node answered a call with an error. This proves nothing about the state of the network. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** Revert data, where the node gives it. */
  readonly data: string | null;

  constructor(code: number, message: string, data: string | null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Text of an error for `readyz`. A node's own message may contain a URL or a key, so only the log has it. */
export function describeError(error: unknown): string {
  if (error instanceof RpcError) return `the node answered a call with error code ${error.code.toString()}`;
  return error instanceof Error ? error.message : String(error);
}
