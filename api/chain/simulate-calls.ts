import { dataLength, toQuantity } from "ethers";

import { type Command, isDelegated, isOfWallet } from "../domain/command.ts";
import { REPORTED_REASON } from "./call-results.ts";
import {
  type CallResult,
  type ChainClient,
  type ContractCall,
  MAX_SIMULATION_ANSWER,
  type SenderCall,
} from "./client.ts";
import { type CallFailure, decodeRevert, failureOf, saysNothing } from "./codec/decode.ts";
import { type EncodedCall, encodeForeignCall, uintWord } from "./codec/encode.ts";
import { AnswerTooLarge, CallAborted, ChainUnavailable } from "./errors.ts";
import { type CalledContracts, findRefusals, receiverIn, refusedBy } from "./refusals.ts";

/** A call of a batch, as the relay would run it. */
export interface PlannedCall extends EncodedCall {
  command: Command;
  number: bigint;
  /** Whether the target is a wallet that does not run the delegate's code yet. */
  needsDelegation: boolean;
}

/** Longest wait for the word of another node, in milliseconds. */
const SECOND_WAIT = 2_000;
/** Gas of a simulation, as a multiple of what an item may use. Enough to tell people how much the item lacks. */
const GAS_MULTIPLE = 4;
/** What a separate transaction costs before its call begins: its base, and the price of a byte of calldata. */
const TRANSACTION = { base: 21_000, byte: 40 } as const;

/** A call that would fail on top of a block. */
export interface SimulatedFailure {
  kind: "failed";
  failure: CallFailure;
  /** Whether another node says the same about the same block. */
  confirmed: boolean;
  block: number;
}

/** The result of a call, simulated as a separate transaction. Null: the node cannot tell. */
export type SimulatedCall = SimulatedRun | SimulatedFailure | null;

/** @param gas null: not known. */
interface SimulatedRun {
  kind: "ran";
  gas: bigint | null;
}

/**
 * Simulates each call by itself, all in one question to the node. Another node is asked about those that fail: if it says in time
 * that a call succeeds, the chain decides.
 * @returns "unanswered" when there was no answer before the abort, or the answer was too long: foreign code may be the
 *   cause. Null for every call when the node does not work, whatever the calls are.
 */
export async function simulatePlannedCalls(
  client: ChainClient,
  contracts: CalledContracts,
  calls: PlannedCall[],
  conditions: Conditions,
): Promise<SimulatedCall[] | "unanswered"> {
  const { relay } = contracts;
  const { block, abort } = conditions;
  try {
    const results = await simulateOnNode(client, relay, calls, conditions);
    const failures = await nameReceivers(client, contracts, calls, results, conditions);
    const failed = calls.filter((_, index) => results[index]?.kind === "failed");
    const again = failed.length === 0 ? [] : await bySecond(client, relay, failed, conditions);
    return calls.map((call, index) => {
      const result = results[index] ?? null;
      if (result?.kind !== "failed") return result;
      const other = again?.[failed.indexOf(call)] ?? null;
      // Another node says that the call succeeds: the chain decides.
      if (other?.kind === "ran") return null;
      return { kind: "failed", failure: failures.get(index) ?? result.failure, confirmed: other !== null, block };
    });
  } catch (error) {
    if (abort.aborted || error instanceof AnswerTooLarge) return "unanswered";
    // Another node may know. Whoever builds the batch asks it.
    if (error instanceof ChainUnavailable && !client.nodes.canMoveOn(error)) return calls.map(() => null);
    throw error;
  }
}

/** The failures whose cause is a receiver that answers nothing, or an account that has delegated, by the place of the call. */
async function nameReceivers(
  client: ChainClient,
  contracts: CalledContracts,
  calls: readonly PlannedCall[],
  results: readonly NodeResult[],
  { block, itemGas: gas, abort }: Conditions,
): Promise<Map<number, CallFailure>> {
  const open = calls.flatMap(({ command }, index) => {
    const result = results[index];
    if (result?.kind !== "failed" || receiverIn(command) === null) return [];
    const { isSilent, failure } = result;
    return isSilent || failure.errorCode === "receiver_rejected" ? [{ index, command, failure, isSilent }] : [];
  });
  if (open.length === 0) return new Map();
  const commands = open.map(({ command }) => command);
  const refusals = await findRefusals(client, contracts, commands, { block, gas, abort });
  return new Map(
    open.flatMap(({ index, isSilent, failure }, position) => {
      const refusal = refusals[position] ?? null;
      if (refusal === null || (!isSilent && refusal.delegate === null)) return [];
      return [[index, refusedBy(refusal, isSilent ? null : (failure.errors[0]?.message ?? null))] as const];
    }),
  );
}

/** What another node says about the same block. Null: no other node answered in time. */
async function bySecond(
  client: ChainClient,
  relay: string,
  calls: PlannedCall[],
  conditions: Conditions,
): Promise<NodeResult[] | null> {
  const abort = AbortSignal.any([conditions.abort, AbortSignal.timeout(SECOND_WAIT)]);
  try {
    return await client.secondAt(conditions.block, () =>
      simulateOnNode(client, relay, calls, { ...conditions, abort }),
    );
  } catch (error) {
    if (error instanceof CallAborted || error instanceof AnswerTooLarge) return null;
    throw error;
  }
}

interface Conditions {
  /** The calls run on top of it. */
  block: number;
  /** The gas that a call may use. */
  itemGas: number;
  /** Ends the wait for the node's answer. */
  abort: AbortSignal;
}

/** What one node says. */
type NodeResult = SimulatedRun | NodeFailure | null;

interface NodeFailure {
  kind: "failed";
  failure: CallFailure;
  /** Whether it gave no reason. */
  isSilent: boolean;
}

/**
 * An estimate above what a call may use decides nothing: the call is run with that limit. So is a call whose estimate failed with an
 * error that the node uses for calls without a reason, and for others.
 */
async function simulateOnNode(
  client: ChainClient,
  relay: string,
  calls: PlannedCall[],
  { block, itemGas, abort }: Conditions,
): Promise<NodeResult[]> {
  const runs = calls.map((call) => (call.needsDelegation ? fromWallet(call) : fromRelay(call, relay)));
  const estimates = await client.simulateCalls(runs, block, GAS_MULTIPLE * itemGas, abort);
  const results = calls.map((call, index) => read(call, estimates[index] ?? null));
  const open = runs.flatMap((run, index) => {
    const result = results[index] ?? null;
    const gas = result?.kind === "ran" ? result.gas : null;
    return result === null || Number(gas ?? 0) > itemGas ? [{ index, gas, run: withLimit(run, itemGas) }] : [];
  });
  if (open.length === 0) return results;
  const bounds = { answerBytes: MAX_SIMULATION_ANSWER, abort };
  const answers = await client.tryCalls(
    open.map(({ run }) => run),
    block,
    bounds,
  );
  for (const [position, { index, gas }] of open.entries()) {
    const [answer, call] = [answers[position], calls[index]];
    if (call === undefined || answer === undefined || (answer !== null && gas === null)) results[index] = null;
    else if (answer !== null) results[index] = { kind: "ran", gas: BigInt(itemGas) };
    else results[index] = gas === null ? failed(call, "0x") : needsMore(gas, itemGas);
  }
  return results;
}

function withLimit(run: SenderCall, itemGas: number): ContractCall {
  return { ...run, gas: toQuantity(itemGas + TRANSACTION.base + TRANSACTION.byte * dataLength(run.data)) };
}

/** Code that needs more gas than a call may use fails on chain, after it burnt all of it. */
function needsMore(estimate: bigint, itemGas: number): NodeFailure {
  const message = `The request needs about ${estimate.toString()} gas. One request may use ${itemGas.toString()} (MAX_ITEM_GAS).`;
  return { kind: "failed", failure: failureOf("out_of_gas", message), isSilent: false };
}

function read(call: PlannedCall, result: CallResult): NodeResult {
  if (result === null) return null;
  if ("reverted" in result) return failed(call, result.reverted.slice(0, REPORTED_REASON));
  // The real call also runs the wallet's code, so this gas would be too low.
  return { kind: "ran", gas: call.needsDelegation ? null : result.gas };
}

function failed({ command }: PlannedCall, reason: string): NodeFailure {
  return { kind: "failed", failure: decodeRevert(reason, command), isSilent: saysNothing(reason) };
}

/** The call of a command on a state in which its wallet may not have delegated yet. */
export function runOf(call: Omit<PlannedCall, "needsDelegation">, relay: string): SenderCall {
  return isDelegated(call.command) ? fromWallet(call) : fromRelay(call, relay);
}

/** The relay appends the request number to the data of each call. */
function fromRelay({ target, data, number }: Omit<PlannedCall, "needsDelegation">, relay: string): SenderCall {
  return { from: relay, to: target, data: data + uintWord(number) };
}

/** A wallet without the delegate's code cannot be called, so its own call to the foreign contract is simulated. */
function fromWallet({ command, target }: Pick<PlannedCall, "command" | "target">): SenderCall {
  if (!isOfWallet(command)) throw new Error("only a transfer or a burn calls a wallet");
  return { from: target, to: command.contract, data: encodeForeignCall(command) };
}
