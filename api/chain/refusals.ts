import { type Command, isDelegated, isMint, type Transfer } from "../domain/command.ts";
import type { ChainClient, ContractCall } from "./client.ts";
import { type CallFailure, failureOf } from "./codec/decode.ts";
import type { ContractAddresses } from "./contracts.ts";
import { RpcError } from "./errors.ts";
import type { BoundedAnswer } from "./foreign.ts";
import { delegateOf } from "./reads.ts";
import { acceptsBy, callReceivers, hookCall } from "./receivers.ts";

/** The contracts that decide what a call of the relay does. */
export type CalledContracts = Pick<ContractAddresses, "relay" | "delegate">;

/** A receiver whose code is the reason why a call failed. */
export interface Refusal {
  receiver: string;
  /** The contract whose code the account runs (EIP-7702). Null: its own code. */
  delegate: string | null;
}

interface Bounds {
  /** State to read: the number of a block or its hash. */
  block: number | string;
  /** Gas of one call of a receiver. */
  gas: number;
  abort: AbortSignal;
}

/**
 * The receivers that are the reason why calls failed without a reason. The service's collections give a reason for every failure of
 * their own, so there it is enough that the receiver has code. A contract of others may fail for any reason: there the receiver
 * itself is asked.
 * @returns null: it is not the receiver, or the node does not tell.
 */
export async function findRefusals(
  client: ChainClient,
  { delegate }: CalledContracts,
  commands: readonly Command[],
  { block, gas, abort }: Bounds,
): Promise<(Refusal | null)[]> {
  const accounts = [...new Set(commands.flatMap((command) => receiverIn(command) ?? []))];
  const codes = await codesAt(client, accounts, block, abort);
  const found = commands.map((command) => {
    const receiver = receiverIn(command);
    const code = receiver === null ? "0x" : (codes.get(receiver) ?? "0x");
    const runs = delegateOf(code);
    return receiver === null || code === "0x" || runs === delegate ? null : { receiver, delegate: runs };
  });
  const open = commands.flatMap((command, index) =>
    found[index] != null && command.kind === "transfer" && isDelegated(command) ? [{ index, command }] : [],
  );
  if (open.length === 0) return found;
  const calls = open.map(({ command }) => hookOf(command));
  const answers = await callReceivers(client, calls, { block, gas, abort });
  for (const [position, { index, command }] of open.entries()) {
    if (!isRefusal(answers[position] ?? "unknown", command)) found[index] = null;
  }
  return found;
}

/** What the node could not run tells nothing. */
function isRefusal(answer: BoundedAnswer, { contractType }: Transfer): boolean {
  if (typeof answer === "string") return answer === "failed";
  return "reverted" in answer || !acceptsBy(answer.returned, contractType);
}

/** The call that the token's contract makes on its receiver when a wallet sends the token. */
function hookOf({ contract, contractType: type, from, to, tokenId, quantity }: Transfer): ContractCall {
  return hookCall({ contract, type, tokenId: BigInt(tokenId) }, { operator: from, from, to }, BigInt(quantity));
}

/** Who gets the token, if the call gives one away. */
export function receiverIn(command: Command): string | null {
  return isMint(command) || command.kind === "transfer" ? command.to : null;
}

/** Empty when the node does not have the state of the block any more. */
async function codesAt(
  client: ChainClient,
  accounts: string[],
  block: number | string,
  abort: AbortSignal,
): Promise<Map<string, string>> {
  if (accounts.length === 0) return new Map();
  try {
    const codes = await client.code(accounts, abort, block);
    return new Map(accounts.map((account, index) => [account, codes[index] ?? "0x"]));
  } catch (error) {
    if (error instanceof RpcError) return new Map();
    throw error;
  }
}

/** @param said the reason that the call gave; null: none. */
export function refusedBy({ receiver, delegate }: Refusal, said: string | null): CallFailure {
  const words = said === null ? "" : ` The call failed with: ${said}`;
  const message =
    delegate === null
      ? `The contract ${receiver} does not take the token: it gave no valid answer when the token was offered. Choose another receiver.`
      : `The account ${receiver} has delegated to the contract ${delegate} (EIP-7702), which does not take the token. ` +
        "Choose another receiver, or let the account's owner change the delegation.";
  return failureOf("receiver_rejected", message + words);
}
