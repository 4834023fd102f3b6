import type { ChainClient } from "../chain/client.ts";
import { type CallFailure, failureOf, minterRemoved } from "../chain/codec/decode.ts";
import type { EncodedCall } from "../chain/codec/encode.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { changedContracts } from "../chain/minting.ts";
import { accountsWithForeignCode, collectionsWithoutMinter } from "../chain/reads.ts";
import type { SimulatedCall, SimulatedFailure } from "../chain/simulate-calls.ts";
import { type Command, isAdoptedMint, isDelegated, isMint } from "../domain/command.ts";
import type { RequestFailureCode } from "../domain/error-codes.ts";
import { checkpointOf } from "../store/db/meta.ts";
import { type MintingRow, type MintingStop, stopMinting } from "../store/requests/minting.ts";
import type { NumberedRequest } from "../store/requests/requests.ts";
import type { Unsent } from "../store/sending/claims.ts";
import type { RelayerContext } from "./context.ts";
import type { SimulatedGas } from "./gas.ts";

/** Milliseconds after which a contract is asked again that could not be read. */
const UNKNOWN_WAIT = 2_000;

export interface EncodedItem extends EncodedCall {
  request: NumberedRequest;
  number: bigint;
  command: Command;
  /** Whether the call may run code of its recipient. A mint into a wallet of the service never does. */
  callsRecipient: boolean;
  /** Of a mint into an adopted contract: how it mints. */
  minting: MintingRow | undefined;
}

/** A call of which no reason is known why it should fail. */
export interface SimulatedItem extends EncodedItem {
  simulated: SimulatedGas;
}

/**
 * Failures in the service's own collections that only the owner or the receiver can resolve. A request in progress may
 * resolve any other one: for example, it creates the id that this mint needs.
 */
const DECISIVE: ReadonlySet<RequestFailureCode> = new Set(["receiver_rejected", "service_cannot_mint", "out_of_gas"]);

/**
 * Simulates the calls that run foreign code (a receiver's hook or a foreign contract), and checks that the relay may still
 * mint in the collections. Ignores failures and gas if the node's newest block is older than the checkpoint. A call whose
 * simulation takes too long is deferred, and so is a request that would fail by the word of one node: see `Doubts`.
 * @param delegating wallets that do not run the delegate's code yet.
 * @param newest the newest block that the node had a moment ago.
 */
export async function simulate(
  context: RelayerContext,
  items: EncodedItem[],
  delegating: ReadonlySet<string>,
  newest: number,
): Promise<{ simulated: SimulatedItem[]; unsent: Unsent[] }> {
  const { client, contracts, database, simulations } = context;
  const checkpoint = await checkpointOf(database.read);
  // The indexer may have processed newer blocks since the lane asked.
  const block = newest < checkpoint ? (await client.latestBlock()).number : newest;
  const { foreign, withoutMint } = await lookAt(context, items, block);
  const results = await simulations.ofBatch(
    foreign.map((item) => ({
      ...item,
      id: item.request.id,
      appId: item.request.app_id,
      receiver: contractThatRuns(item),
      needsDelegation: delegating.has(item.target),
    })),
    block,
  );
  const byItem = new Map(foreign.map((item, index) => [item, results[index] ?? null]));
  const upToDate = block >= checkpoint;
  const simulated: SimulatedItem[] = [];
  const unsent: Unsent[] = [];
  const stops: MintingStop[] = [];
  for (const item of items) {
    const { request, command, target, minting } = item;
    const result = byItem.get(item);
    if (result?.kind === "deferred") {
      unsent.push({ kind: "ready", request, retryIn: result.retryIn, waitingFor: "simulation" });
      continue;
    }
    const closed = isMint(command) ? withoutMint.get(target) : undefined;
    // Nothing is minted into a contract of others that could not be looked at.
    if (closed === "unknown" || (minting !== undefined && !upToDate)) {
      unsent.push({ kind: "ready", request, retryIn: UNKNOWN_WAIT, waitingFor: "simulation" });
      continue;
    }
    if (!upToDate) {
      simulated.push({ ...item, simulated: result === undefined ? "own code" : "unknown" });
      continue;
    }
    const { reason = null, confirmed = false } = closed ?? {};
    const failure =
      reason === null ? minterRemoved(contracts.relay, command) : failureOf("service_cannot_mint", reason);
    const failed = closed === undefined ? decisiveFailure(command, result) : { failure, block, confirmed };
    const ended = judge(context, item, failed);
    if (ended === null) simulated.push({ ...item, simulated: gasOf(result) });
    else unsent.push(ended);
    if (ended?.kind === "fails" && reason !== null) stops.push({ contract: target, reason });
  }
  if (stops.length > 0) await database.write((trx) => stopMinting(trx, stops));
  return { simulated, unsent };
}

/** What else the calls depend on, as of a block. `withoutMint`: where the service may not mint, and why if it is not its own collection. */
async function lookAt({ client, contracts }: RelayerContext, items: EncodedItem[], block: number) {
  const own = items.filter(({ command, minting }) => isMint(command) && minting === undefined);
  const adopted = items.flatMap(({ minting }) => minting ?? []);
  const [foreign, removed, changed] = await Promise.all([
    runningForeignCode(client, contracts, items),
    collectionsWithoutMinter(client, [...new Set(own.map(({ target }) => target))], contracts.relay, block),
    changedContracts(client, adopted, block),
  ]);
  const withoutMint = new Map<string, { reason?: string; confirmed: boolean } | "unknown">([...removed, ...changed]);
  return { foreign, withoutMint };
}

/** What becomes of a request of which it is known why it would fail; null: it is sent. */
function judge(
  { doubts }: RelayerContext,
  { request, minting }: EncodedItem,
  failed: { failure: CallFailure; confirmed: boolean; block: number } | null,
): Unsent | null {
  // A request that was signed before may still run on chain: only the chain may end it.
  const failure = request.status === "pending" ? (failed?.failure ?? null) : null;
  if (failure === null || failed === null) {
    doubts.forget(request);
    // It is not sent again into a contract that is not what was confirmed.
    if (failed?.failure.errorCode !== "service_cannot_mint" || minting === undefined) return null;
    return { kind: "held", request, heldBy: failed.failure.errors[0]?.message ?? "", waitingFor: "simulation" };
  }
  const retryIn = failed.confirmed ? null : doubts.wait(request, failure.errorCode, failed.block);
  if (retryIn !== null) return { kind: "ready", request, retryIn, waitingFor: "simulation" };
  doubts.forget(request);
  return { kind: "fails", request, failure, cause: null };
}

function gasOf(result: SimulatedCall | undefined): SimulatedGas {
  if (result === undefined) return "own code";
  return result?.kind === "ran" ? (result.gas ?? "unknown") : "unknown";
}

function decisiveFailure(command: Command, result: SimulatedCall | undefined): SimulatedFailure | null {
  if (result?.kind !== "failed") return null;
  return isForeign(command) || DECISIVE.has(result.failure.errorCode) ? result : null;
}

/** The contract whose code the call runs. */
function contractThatRuns({ command, target }: EncodedItem): string {
  if (isDelegated(command)) return command.contract;
  if (isAdoptedMint(command)) return target;
  return "to" in command ? command.to : target;
}

async function runningForeignCode(
  client: ChainClient,
  contracts: ContractAddresses,
  items: EncodedItem[],
): Promise<EncodedItem[]> {
  const recipients = new Set(items.flatMap((item) => recipientCalled(item) ?? []));
  const withCode = await accountsWithForeignCode(client, [...recipients], contracts.delegate);
  return items.filter((item) => isForeign(item.command) || withCode.has(recipientCalled(item) ?? ""));
}

/** Whether the call itself runs code of a contract that another party deployed. */
function isForeign(command: Command): boolean {
  return isDelegated(command) || isAdoptedMint(command);
}

/** Whose code the call may run; null when it runs no recipient's code. */
function recipientCalled({ command, callsRecipient }: EncodedItem): string | null {
  return callsRecipient && "to" in command ? command.to : null;
}
