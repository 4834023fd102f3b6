import { type Command, isOfWallet } from "../domain/command.ts";
import { REPORTED_REASON } from "./call-results.ts";
import type { CallResult, ChainClient } from "./client.ts";
import { type CallFailure, decodeRevert } from "./codec/decode.ts";
import { type EncodedCall, encodeForeignCall, uintWord } from "./codec/encode.ts";
import { AnswerTooLarge, CallAborted, ChainUnavailable } from "./errors.ts";

/** A call of a batch, as the relay would run it. */
export interface PlannedCall extends EncodedCall {
  command: Command;
  number: bigint;
  /** Whether the target is a wallet that does not run the delegate's code yet. */
  needsDelegation: boolean;
}

/** Longest wait for the word of another node, in milliseconds. */
const SECOND_WAIT = 2_000;

/** The result of a call, simulated as a separate transaction. Null: the node cannot tell. */
export type SimulatedCall = { gas: bigint | null } | { failure: CallFailure } | null;

/**
 * Simulates each call by itself, all in one question to the node.
 * A failure does not count if another node says in time that the call succeeds: a request fails for good because of it.
 * @returns "unanswered" when there was no answer before the abort, or the answer was too long: foreign code may be the
 *   cause. Null for every call when the node does not work, whatever the calls are.
 */
export async function simulatePlannedCalls(
  client: ChainClient,
  relay: string,
  calls: PlannedCall[],
  { block, maxGas, abort }: Conditions,
): Promise<SimulatedCall[] | "unanswered"> {
  const runs = calls.map((call) => (call.needsDelegation ? fromWallet(call) : fromRelay(call, relay)));
  try {
    const results = await client.simulateCalls(runs, block, maxGas, abort);
    const simulated = calls.map((call, index) => read(call, results[index] ?? null));
    const failed = [...simulated.entries()].flatMap(([index, one]) =>
      one !== null && "failure" in one ? [index] : [],
    );
    if (failed.length === 0) return simulated;
    const bounds = { block, maxGas, abort: AbortSignal.any([abort, AbortSignal.timeout(SECOND_WAIT)]) };
    const again = await bySecond(
      client,
      failed.flatMap((index) => runs[index] ?? []),
      bounds,
    );
    for (const [position, result] of (again ?? []).entries()) {
      // Another node says that the call succeeds: the chain decides.
      if (result !== null && !("reverted" in result)) simulated[failed[position] ?? -1] = null;
    }
    return simulated;
  } catch (error) {
    if (abort.aborted || error instanceof AnswerTooLarge) return "unanswered";
    // Another node may know. Whoever builds the batch asks it.
    if (error instanceof ChainUnavailable && !client.nodes.canMoveOn(error)) return calls.map(() => null);
    throw error;
  }
}

/** What another node says. Null: no other node answered in time, so the answer of the first one counts. */
async function bySecond(
  client: ChainClient,
  runs: Parameters<ChainClient["simulateCalls"]>[0],
  { block, maxGas, abort }: Conditions,
): Promise<CallResult[] | null> {
  try {
    return await client.nodes.second(() => client.simulateCalls(runs, block, maxGas, abort));
  } catch (error) {
    if (error instanceof CallAborted || error instanceof AnswerTooLarge) return null;
    throw error;
  }
}

interface Conditions {
  /** The calls run on top of it. */
  block: number;
  /** Gas after which the node may give up on a call. */
  maxGas: number;
  /** Ends the wait for the node's answer. */
  abort: AbortSignal;
}

export function read({ command, needsDelegation }: PlannedCall, result: CallResult): SimulatedCall {
  if (result === null) return null;
  if ("reverted" in result) return { failure: decodeRevert(result.reverted.slice(0, REPORTED_REASON), command) };
  // The real call also runs the wallet's code, so this gas would be too low.
  return { gas: needsDelegation ? null : result.gas };
}

/** The relay appends the request number to the data of each call. */
function fromRelay({ target, data, number }: PlannedCall, relay: string) {
  return { from: relay, to: target, data: data + uintWord(number) };
}

/** A wallet without the delegate's code cannot be called, so its own call to the foreign contract is simulated. */
function fromWallet({ command, target }: PlannedCall) {
  if (!isOfWallet(command)) throw new Error("only a transfer or a burn calls a wallet");
  return { from: target, to: command.contract, data: encodeForeignCall(command) };
}
