import { AMBIGUOUS, revertOf } from "./call-errors.ts";
import type { ChainClient } from "./client.ts";
import { AnswerTooLarge, ChainUnavailable } from "./errors.ts";
import { hex } from "./json-rpc-values.ts";
import type { RpcResult } from "./rpc.ts";

/** A read of a contract that the service did not deploy. */
export interface BoundedCall {
  to: string;
  data: string;
}

/**
 * How a call of a foreign contract ended. `failed`: it ran, but used more than the limits allow, or broke in a way that
 * tells nothing. `unknown`: the node could not run it, so nothing is known about the contract.
 */
export type BoundedAnswer = { returned: string } | "reverted" | "failed" | "unknown";

export interface CallBounds {
  /** Gas limit of one call. */
  gas: number;
  /** The block whose state is read; absent: the newest. */
  block?: number;
  /** Ends the calls early. Calls without an answer are then `unknown`. */
  abort?: AbortSignal;
  /** Reads all calls of a contract, also after ten of them failed. */
  readAll?: boolean;
}

/** Calls in one HTTP request, all of the same contract. An answer that is too large loses only these. */
const CALLS_AT_ONCE = 10;
/** Largest answer to one such HTTP request, in bytes. */
const ANSWER_BYTES = 1_048_576;
/** Contracts that are read at the same time. */
export const CONTRACTS_AT_ONCE = 4;

/** The identity precompile returns its input on every node that has the state of the block. */
const CONTROL: BoundedCall = { to: "0x0000000000000000000000000000000000000004", data: "0x6d6f6e657461" };

/**
 * Calls foreign contracts under limits for gas and answer size. No contract affects the answers of another. It never
 * throws because of a contract or of the node: what could not be read is `failed` or `unknown`.
 */
export async function boundedCalls(
  client: ChainClient,
  calls: readonly BoundedCall[],
  bounds: CallBounds,
): Promise<BoundedAnswer[]> {
  const answers = new Array<BoundedAnswer>(calls.length).fill("unknown");
  const byContract = [...Map.groupBy(calls.keys(), (index) => calls[index]?.to).values()];
  const next = byContract.values();
  const readContracts = async () => {
    for (const indexes of next) {
      for (let start = 0; start < indexes.length && bounds.abort?.aborted !== true; start += CALLS_AT_ONCE) {
        const part = indexes.slice(start, start + CALLS_AT_ONCE);
        const found = await readPart(
          client,
          part.flatMap((index) => calls[index] ?? []),
          bounds,
        );
        for (const [position, index] of part.entries()) answers[index] = found[position] ?? "unknown";
        // The rest would most likely end the same way, and cost as much again.
        if (found.every((answer) => answer === "unknown" || (answer === "failed" && bounds.readAll !== true))) {
          for (const index of indexes.slice(start + CALLS_AT_ONCE)) answers[index] = found[0] ?? "unknown";
          break;
        }
      }
    }
  };
  await Promise.all(Array.from({ length: CONTRACTS_AT_ONCE }, readContracts));
  return answers;
}

/** Calls of one contract, in one HTTP request. */
async function readPart(client: ChainClient, calls: BoundedCall[], bounds: CallBounds): Promise<BoundedAnswer[]> {
  try {
    const limits = { batch: CALLS_AT_ONCE + 1, answerBytes: ANSWER_BYTES, abort: bounds.abort };
    // The control call shows whether an unclear error is the node's or the contract's.
    const results = await client.callsWithin([CONTROL, ...calls], bounds.block, bounds.gas, limits);
    const [control, ...own] = results;
    const hasState = control?.ok === true && control.value === CONTROL.data;
    return own.map((result) => answerOf(result, hasState));
  } catch (error) {
    if (error instanceof AnswerTooLarge) return calls.map(() => "failed");
    if (error instanceof ChainUnavailable) return calls.map(() => "unknown");
    throw error;
  }
}

/** @param hasState whether the node has the state, so that an unclear error is the contract's. */
function answerOf(result: RpcResult, hasState: boolean): BoundedAnswer {
  if (result.ok) {
    const returned = hex.safeParse(result.value);
    return returned.success ? { returned: returned.data } : "unknown";
  }
  if (revertOf(result.error) !== null) return "reverted";
  const unclear = AMBIGUOUS.has(result.error.code) || result.error.data !== null;
  return unclear && hasState ? "failed" : "unknown";
}
