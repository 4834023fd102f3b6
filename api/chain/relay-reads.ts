import { abi } from "./abi.ts";
import { addressOf, boolOf } from "./call-results.ts";
import type { ChainClient } from "./client.ts";

/** Null: no relay answers, or the node could not run the call. */
export interface RelayStatus {
  paused: boolean | null;
  /** Whether each account may send batches, in the order asked. */
  operators: (boolean | null)[];
}

/** Whether the relay takes batches now, and from which of the accounts. */
export async function readRelayStatus(client: ChainClient, relay: string, accounts: string[]): Promise<RelayStatus> {
  const [paused, ...operators] = await client.tryCalls([
    { to: relay, data: abi.relay.encodeFunctionData("paused") },
    ...accounts.map((account) => ({ to: relay, data: abi.relay.encodeFunctionData("isOperator", [account]) })),
  ]);
  return { paused: boolOf(paused), operators: operators.map(boolOf) };
}

/**
 * Whether the relay has consumed each request number, in the order asked. Null: the node does not say.
 * @param block state to read; the newest one when absent.
 */
export async function readConsumed(
  client: ChainClient,
  relay: string,
  numbers: bigint[],
  block?: number,
): Promise<(boolean | null)[]> {
  const calls = numbers.map((number) => ({ to: relay, data: abi.relay.encodeFunctionData("isConsumed", [number]) }));
  return (await client.tryCalls(calls, block)).map(boolOf);
}

/** Owner of the relay now. Null: no relay answers, or the node could not run the call. */
export async function readRelayOwner(client: ChainClient, relay: string): Promise<string | null> {
  const [owner] = await client.tryCalls([{ to: relay, data: abi.relay.encodeFunctionData("owner") }]);
  return addressOf(owner);
}
