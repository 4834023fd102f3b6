/** The node cannot be reached, or answers nonsense: nothing is known, try again later. */
export class ChainUnavailable extends Error {
  override readonly name = "ChainUnavailable";
}

/** The node understood the call and answered with an error. Proves nothing about what the network does. */
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

/** What `readyz` says of an error. A node's own words may hold an address or a key: they go to the log alone. */
export function describeError(error: unknown): string {
  if (error instanceof RpcError) return `the node refuses a call (code ${error.code.toString()})`;
  return error instanceof Error ? error.message : String(error);
}
