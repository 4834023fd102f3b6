import { dataLength, getBytes, toQuantity } from "ethers";

import type { Command } from "../domain/command.ts";
import { type ChainClient, MAX_SIMULATION_ANSWER } from "./client.ts";
import type { EncodedCall } from "./codec/encode.ts";
import { AMBIGUOUS, AnswerTooLarge, ChainUnavailable, RateLimited, ranAndReverted } from "./errors.ts";
import { type CalledContracts, findRefusals, type Refusal } from "./refusals.ts";
import type { RpcResult } from "./rpc.ts";
import { runOf } from "./simulate-calls.ts";

/** A call of a mined batch that failed without a reason. */
export interface FailedCall extends EncodedCall {
  command: Command;
  number: bigint;
  /** The gas that it could use. */
  limit: number;
  /** Whether its transaction used at least that much. */
  mayHaveRunOut: boolean;
}

/** Why a call failed. Null: the node does not tell. */
export type Cause = "out of gas" | Refusal | null;

/** A transaction pays this before its call begins. */
const BASE = 21_000;
const CALLDATA = { zero: 4, other: 16 } as const;

/**
 * Why calls failed that gave no reason, from simulations on the state before their block. A call ran out of gas if it fails with
 * its limit and succeeds with twice as much: the success shows that the node has the state.
 * @param block hash of the parent of the calls' block. A node may not have its state any more.
 * @returns "unanswered" when there was no answer before the abort, or the answer was too long.
 */
export async function findCauses(
  client: ChainClient,
  contracts: CalledContracts,
  calls: readonly FailedCall[],
  { block, abort }: { block: string; abort: AbortSignal },
): Promise<Cause[] | "unanswered"> {
  try {
    const causes: Cause[] = await ranOut(client, contracts, calls, { block, abort });
    const open = calls.flatMap((call, index) => (causes[index] === null ? [{ call, index }] : []));
    const refusals = await findRefusals(
      client,
      contracts,
      open.map(({ call }) => call.command),
      { block, gas: Math.max(...calls.map(({ limit }) => limit)), abort },
    );
    for (const [position, { index }] of open.entries()) causes[index] = refusals[position] ?? null;
    return causes;
  } catch (error) {
    if (abort.aborted || error instanceof AnswerTooLarge) return "unanswered";
    // With several nodes, another one answers. An outage or foreign code that breaks a single node must not hold up the blocks.
    const waits = error instanceof RateLimited || client.nodes.canMoveOn(error);
    if (error instanceof ChainUnavailable && !waits) return "unanswered";
    throw error;
  }
}

async function ranOut(
  client: ChainClient,
  { relay }: CalledContracts,
  calls: readonly FailedCall[],
  { block, abort }: { block: string; abort: AbortSignal },
): Promise<("out of gas" | null)[]> {
  const unclear = calls.filter(({ mayHaveRunOut }) => mayHaveRunOut);
  if (unclear.length === 0) return calls.map(() => null);
  const runs = unclear.flatMap((call) => {
    // A wallet delegates in the same transaction, so on the state before it only the wallet's own call can run.
    const run = runOf(call, relay);
    const before = BASE + priceOf(run.data);
    return [call.limit, 2 * call.limit].map((gas) => ({ ...run, gas: toQuantity(gas + before) }));
  });
  const bounds = { abort, answerBytes: MAX_SIMULATION_ANSWER };
  const answers = await client.callsWithin(runs, block, 0, bounds);
  const out = new Set(
    unclear.filter((_, index) => hasFailed(answers[2 * index]) && answers[2 * index + 1]?.ok === true),
  );
  return calls.map((call) => (out.has(call) ? "out of gas" : null));
}

function hasFailed(answer: RpcResult | undefined): boolean {
  if (answer === undefined || answer.ok) return false;
  return ranAndReverted(answer.error) === null || AMBIGUOUS.has(answer.error.code);
}

function priceOf(data: string): number {
  const zeros = getBytes(data).reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  return zeros * CALLDATA.zero + (dataLength(data) - zeros) * CALLDATA.other;
}
