import type { Authorization } from "ethers";

import type { CallResult, ChainClient } from "../chain/client.ts";
import { abi, type ContractAddresses } from "../chain/contracts.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import { encodeForeignCall, type EncodedCall } from "../chain/encode-call.ts";
import { decodeRevert } from "../chain/revert-reasons.ts";
import { type Command, isMint } from "../domain/command.ts";
import type { FieldError, RequestFailureCode } from "../domain/error-codes.ts";
import type { ClaimedRequest } from "../store/sending/claims.ts";
import type { Db } from "../store/db/engine.ts";
import { readMeta } from "../store/db/meta.ts";

interface SimulationContext {
  client: ChainClient;
  read: Db;
  contracts: ContractAddresses;
  maxItemGas: number;
}

export interface EncodedItem extends EncodedCall {
  request: ClaimedRequest;
  command: Command;
}

/** Why a call would fail, as the chain would say it. */
export interface SimulatedFailure {
  errorCode: RequestFailureCode;
  errors: FieldError[];
}

/** What a call would do if it ran on top of the newest block. */
export interface Simulation {
  /** Gas of the call as a transaction of its own; null: not known; undefined: no code runs in it that is not ours. */
  gas: bigint | null | undefined;
  /** null: nothing is known against it. */
  failure: SimulatedFailure | null;
}

/**
 * Failures of calls to our own collections that the newest block alone decides. Others may be cured by a request that is
 * under way: an id that is about to be created, for one.
 */
const DECIDED: ReadonlySet<RequestFailureCode> = new Set(["receiver_rejected", "service_cannot_mint"]);

/** Gas up to which a call is tried, for each unit that an item may have: far enough to tell how much it lacks. */
const TRIED = 4;
/** As much of a reason as the relay reports: 256 bytes, in hexadecimal. */
const REASON = 2 + 2 * 256;

/**
 * Asks the node what the calls would do in which code runs that is not ours (a receiver's, a foreign contract's), and
 * whether the collections still let the service mint. What a node says of a block older than the checkpoint counts for
 * nothing.
 * @param block the newest block that the node has.
 */
export async function simulate(
  context: SimulationContext,
  items: EncodedItem[],
  delegating: Map<string, Authorization>,
  block: number,
): Promise<Simulation[]> {
  const { client, contracts } = context;
  const [running, lost, checkpoint] = [
    await runForeignCode(client, contracts, items),
    await collectionsLost(client, contracts, items, block),
    await readMeta(context.read, "checkpoint"),
  ];
  const simulated = items.filter((item) => running.has(item));
  const results = await simulateCalls(
    client,
    simulated.map((item) => (delegating.has(item.target) ? asTheWallet(item) : asTheRelay(item, contracts.relay))),
    block,
    TRIED * context.maxItemGas,
  );
  const upToDate = block >= Number(checkpoint ?? 0);
  const byItem = new Map(simulated.map((item, index) => [item, results[index] ?? null]));
  return items.map((item) => {
    const result = byItem.get(item);
    const failure =
      lost.has(item.target) && isMint(item.command)
        ? mintingLost(contracts.relay, item.command)
        : failureOf(item, result);
    return {
      // Without the wallet's code in between, its gas is not that of the real call.
      gas: result !== undefined && (delegating.has(item.target) || !upToDate) ? null : gasOf(result),
      failure: upToDate ? failure : null,
    };
  });
}

/**
 * A node that does not come to an end with it knows nothing of any of them: receivers that do nothing but burn gas must
 * not keep everybody's requests from being sent.
 */
async function simulateCalls(
  client: ChainClient,
  calls: Parameters<ChainClient["simulateCalls"]>[0],
  block: number,
  mostGas: number,
): Promise<CallResult[]> {
  try {
    return await client.simulateCalls(calls, block, mostGas);
  } catch (error) {
    if (error instanceof ChainUnavailable) return [];
    throw error;
  }
}

function gasOf(result: CallResult | undefined): bigint | null | undefined {
  if (result === undefined) return undefined;
  return result !== null && "gas" in result ? result.gas : null;
}

function failureOf({ command }: EncodedItem, result: CallResult | undefined): SimulatedFailure | null {
  if (result == null || !("reverted" in result)) return null;
  const failure = decodeRevert(result.reverted.slice(0, REASON), command);
  const foreign = command.kind === "transfer" && command.foreign;
  return foreign || DECIDED.has(failure.errorCode) ? failure : null;
}

/** As the relay will call it: with the number behind the data. */
function asTheRelay({ target, data, request }: EncodedItem, relay: string) {
  return { from: relay, to: target, data: data + request.number.toString(16).padStart(64, "0") };
}

/** A wallet that does not run the delegate's code yet cannot be called: what it would call is. */
function asTheWallet({ command, target }: EncodedItem) {
  if (command.kind !== "transfer") throw new Error("only transfers need a wallet's own code");
  return { from: target, to: command.contract, data: encodeForeignCall(command) };
}

/** Items in which code runs that is not ours. */
async function runForeignCode(
  client: ChainClient,
  contracts: ContractAddresses,
  items: EncodedItem[],
): Promise<Set<EncodedItem>> {
  const recipients = [...new Set(items.flatMap(({ command }) => ("to" in command ? [command.to] : [])))];
  const codes = await client.code(recipients);
  const delegated = `0xef0100${contracts.delegate.slice(2)}`.toLowerCase();
  const withCode = new Set(
    recipients.filter((_, index) => {
      const code = codes[index] ?? "0x";
      return code !== "0x" && code.toLowerCase() !== delegated;
    }),
  );
  return new Set(
    items.filter(
      ({ command }) =>
        (command.kind === "transfer" && command.foreign) || ("to" in command && withCode.has(command.to)),
    ),
  );
}

/** Collections among the targets whose owner took the service's right to mint away. */
async function collectionsLost(
  client: ChainClient,
  contracts: ContractAddresses,
  items: EncodedItem[],
  block: number,
): Promise<Set<string>> {
  const collections = [...new Set(items.filter(({ command }) => isMint(command)).map(({ target }) => target))];
  const data = abi.erc721.encodeFunctionData("isMinter", [contracts.relay]);
  const answers = await client.tryCalls(
    collections.map((to) => ({ to, data })),
    block,
  );
  return new Set(collections.filter((_, index) => answers[index] === `0x${"0".repeat(64)}`));
}

function mintingLost(relay: string, command: Command): SimulatedFailure {
  return decodeRevert(abi.erc721.encodeErrorResult("CollectionUnauthorizedMinter", [relay]), command);
}
