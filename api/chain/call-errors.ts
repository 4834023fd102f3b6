import type { RpcError } from "./errors.ts";
import { hex } from "./json-rpc-values.ts";

/**
 * Codes for a call that ran and reverted: 3 (execution API), -32015 (Nethermind). Other nodes give revert data. Any other
 * error, such as a rate limit, says nothing about the call.
 */
const REVERT_CODES = new Set([3, -32015]);

export function ranAndReverted(error: RpcError): null | undefined {
  return error.data !== null || REVERT_CODES.has(error.code) ? null : undefined;
}

/** Some nodes add empty revert data to errors that do not concern the call, so empty data alone is no revert. */
export function revertOf(error: RpcError): { reverted: string } | null {
  const data = hex.safeParse(error.data);
  if (data.success && data.data !== "0x") return { reverted: data.data };
  return REVERT_CODES.has(error.code) ? { reverted: "0x" } : null;
}

/** Nodes use these codes both for a call that failed while it ran and for a call that they could not run. */
export const AMBIGUOUS: ReadonlySet<number> = new Set([-32000, -32603]);

/** Gas of a contract creation without its memory, rounded up generously. */
export const BURNER_RESERVE = 300_000;

/** Words of memory whose use costs this much gas: 3 for each word, and the square of their number divided by 512. */
export function memoryWords(gas: number): number {
  return 256 * (Math.sqrt(9 + gas / 128) - 3);
}
