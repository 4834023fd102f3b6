import type { Authorization } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { CloneArgumentsError } from "../chain/codec/clone-arguments.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { encodeBatch, type EncodedCall, encodeServiceCall, encodeWalletCall } from "../chain/codec/encode.ts";
import { type CallFailure, failureOf } from "../chain/codec/decode.ts";
import { type Command, isOfWallet, type WalletCommand } from "../domain/command.ts";
import { NodeDisagrees } from "../chain/errors.ts";
import type { StoredReason } from "../domain/waiting-for.ts";
import type { GasMeasurement, MintSlots } from "../domain/gas-estimate.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { Db } from "../store/db/sql.ts";
import { delegatedAmong, walletPaths } from "../store/apps/wallets.ts";
import type { Doubts } from "./doubts.ts";
import type { ForeignSimulations } from "./foreign-simulations.ts";
import { largestLike, limitThatFills } from "./pace.ts";
import { type EncodedItem, simulate, type Simulation } from "./simulate.ts";
import { batchGas, BatchSlots, expectedOf, type ItemGas, itemGas } from "./gas.ts";
import type { GasMeter } from "./gas-meter.ts";
import { signDelegations, walletSigners, type WalletSigners } from "./sign.ts";
import type { NumberedRequest } from "../store/requests/requests.ts";

export interface BatchContext {
  client: ChainClient;
  read: Db;
  keyring: Keyring;
  chainId: bigint;
  contracts: ContractAddresses;
  maxItemGas: number;
  /** What calls cost on the connected chain, as measured last. */
  gas: Pick<GasMeter, "current" | "confirmed">;
  simulations: ForeignSimulations;
  doubts: Doubts;
}

interface Item extends EncodedItem {
  gas: ItemGas;
  number: bigint;
}

/** A request that fails without a transaction: it cannot be encoded as a call, or its call would only burn gas. */
export interface RejectedItem extends CallFailure {
  request: NumberedRequest;
  /** An error that the operator must see in the log; null when the failure concerns only the app. */
  cause: unknown;
}

export interface BuiltBatch {
  /** In the order of the calls. */
  requests: NumberedRequest[];
  /** The gas that each of them is expected to use: its weight in the shares of the transaction's cost. */
  weights: number[];
  /** Claimed requests that exceed the gas budget: the caller returns them. */
  left: NumberedRequest[];
  /** Claimed requests that are simulated alone or again: the caller returns them, and they are looked at again later. */
  deferred: { request: NumberedRequest; retryIn: number }[];
  /** Claimed requests that cannot be sent as long as a node says so: the caller parks them. */
  held: HeldRequest[];
  /** Claimed requests that the caller ends as failed. */
  rejected: RejectedItem[];
  data: string;
  gasLimit: bigint;
  authorizations: Authorization[];
}

/** A request that is neither sent nor failed because of what one node names. */
export interface HeldRequest {
  request: NumberedRequest;
  /** What the node names, for the operator. */
  reason: string;
  /** For the app. */
  waitingFor: StoredReason;
}

/** Authorizations that a batch must carry, by wallet. */
type Delegations = Map<string, Authorization>;

/** The gas that a batch may have. */
export interface Budget {
  /** The highest gas limit of a transaction. */
  gas: number;
  /** The gas limit that the lane can pay for. One request is sent with more: it waits until the lane is funded. */
  affordable: number;
  /** Most requests in one transaction. */
  items: number;
  /** The gas limit of the blocks that batches like this one fill together; null: the batch is as large as possible. */
  fill: number | null;
}

/**
 * Turns claimed requests into one `Relay.execute`, as many as the gas budget allows.
 * @param block the newest block that the node has.
 */
export async function buildBatch(
  context: BatchContext,
  claimed: NumberedRequest[],
  budget: Budget,
  block: number,
): Promise<BuiltBatch> {
  const gasBudget = budget.gas;
  const { encoded, delegations, rejected, held, deferred } = await encodeAll(context, claimed, block);
  const commands = encoded.map(({ command }) => command);
  const [slots, simulations] = await Promise.all([
    BatchSlots.of(context.read, commands),
    simulate(context, encoded, new Set(delegations.keys()), block),
  ]);
  const items: Item[] = [];
  const tooLarge: TooLarge[] = [];
  for (const [index, item] of encoded.entries()) {
    const simulation = simulations[index] ?? { gas: undefined, failure: null };
    if ("retryIn" in simulation) {
      deferred.push({ request: item.request, retryIn: simulation.retryIn });
      continue;
    }
    if (simulation.failure !== null) {
      rejected.push({ request: item.request, ...simulation.failure, cause: null });
      continue;
    }
    const counting = { slots: slots.find(item.command), delegates: delegations.has(item.target) };
    const counted = countGas(context, { item, simulation, ...counting }, gasBudget);
    if (counted.fits) {
      items.push({ ...item, number: item.request.number, gas: counted.gas });
      slots.add(item.command);
    } else {
      tooLarge.push({ item, simulation, ...counting, alone: counted.alone });
    }
  }
  const judged = await judgeTooLarge(context, tooLarge, gasBudget);
  const measured = context.gas.current;
  const taken = takeFitting(measured, items, delegations, budget);
  const authorizations = [...new Set(taken.map((item) => item.target))].flatMap(
    (target) => delegations.get(target) ?? [],
  );
  const calls = taken.map(({ number, target, gas, data }) => ({ number, target, gasLimit: gas.limit, data }));
  return {
    requests: taken.map((item) => item.request),
    weights: taken.map((item) => expectedOf(measured, item)),
    left: items.slice(taken.length).map((item) => item.request),
    deferred,
    held: [...held, ...judged.held],
    rejected: [...rejected, ...judged.rejected],
    data: encodeBatch(calls),
    gasLimit: BigInt(Math.min(batchGas(measured, taken, authorizations.length).limit, gasBudget)),
    authorizations,
  };
}

/** The items, from the first, that one transaction runs. */
function takeFitting(measured: GasMeasurement, items: Item[], delegations: Delegations, budget: Budget): Item[] {
  const gasOf = (taken: Item[]) => {
    const targets = new Set(taken.map((item) => item.target));
    return batchGas(measured, taken, [...targets].filter((target) => delegations.has(target)).length);
  };
  const fitting = (from: Item[], limit: number) => {
    let taken = from;
    for (;;) {
      const needed = gasOf(taken).limit;
      if (needed <= limit || taken.length <= 1) return taken;
      // Items share some gas, so the gas falls more slowly than their number: this takes away too few rather than too many.
      const fits = Math.floor((taken.length * limit) / needed);
      taken = taken.slice(0, Math.max(1, Math.min(taken.length - 1, fits)));
    }
  };
  const most = fitting(items, Math.min(budget.gas, budget.affordable));
  if (budget.fill === null || most.length === 0) return most;
  const largest = largestLike(gasOf(most), most.length, budget);
  return fitting(most, limitThatFills(largest, budget.fill));
}

/** Reads what the calls depend on with a few RPC calls for all of them, then encodes and signs each. */
async function encodeAll(context: BatchContext, claimed: NumberedRequest[], block: number) {
  const { client, read, keyring, chainId, contracts, doubts } = context;
  const commands = claimed.map((request) => request.command);
  const signed = commands.filter(isOfWallet);
  const wallets = await walletSigners(read, keyring, sendersOf(signed));
  const delegating = sendersOf(signed.filter(({ foreign }) => foreign));
  const signedDelegations = await signDelegations(client, wallets, delegating, {
    chainId,
    delegate: contracts.delegate,
    stored: await delegatedAmong(read, delegating),
  });
  const recipients = commands.flatMap((command) => (command.kind === "mint-erc721" ? [command.to] : []));
  const ownRecipients = await walletPaths(read, [...new Set(recipients)]);
  const encoded: EncodedItem[] = [];
  const rejected: RejectedItem[] = [];
  const held: HeldRequest[] = [];
  const deferred: BuiltBatch["deferred"] = [];
  const delegations: Delegations = new Map();
  for (const request of claimed) {
    const { command } = request;
    const wallet = isOfWallet(command) && command.foreign ? command.from : null;
    const delegation = wallet === null ? undefined : signedDelegations.get(wallet);
    if (delegation === null) {
      held.push({
        request,
        waitingFor: "nodes_disagree",
        reason: "The nodes name different nonces of the wallet, and its delegation needs the right one.",
      });
      continue;
    }
    if (wallet !== null && delegation !== undefined) {
      const { authorization, doubtful } = delegation;
      const claim = `nonce ${authorization.nonce.toString()}`;
      const wait = doubtful ? doubts.wait({ id: wallet, app_id: request.app_id }, claim, block) : null;
      if (wait !== null) {
        deferred.push({ request, ...wait });
        continue;
      }
      delegations.set(wallet, authorization);
    }
    try {
      encoded.push({ request, command, ...encode(context, request, command, wallets, ownRecipients) });
    } catch (error) {
      // One request that cannot be encoded must not block the others, now and at every retry.
      const reason =
        error instanceof CloneArgumentsError ? error.message : "The request cannot be encoded as a contract call.";
      rejected.push({ request, ...failureOf("execution_reverted", reason), cause: error });
    }
  }
  return { encoded, delegations, rejected, held, deferred };
}

function sendersOf(signed: WalletCommand[]): string[] {
  return [...new Set(signed.map(({ from }) => from))];
}

/** What the gas of an item depends on. */
interface Countable {
  item: EncodedItem;
  simulation: Simulation;
  slots: MintSlots;
  /** Whether its transaction must carry an authorization for it. */
  delegates: boolean;
}

/** An item for which no transaction has room, and what a transaction with it alone would need. */
type TooLarge = Countable & { alone: number };

/** The gas of an item, and whether a transaction with this budget has room for it. */
function countGas(context: BatchContext, { item, simulation, slots, delegates }: Countable, gasBudget: number) {
  const { maxItemGas } = context;
  // An item's gas counts twice: once as expected, and once as the limit that must be left when the item starts.
  const maxForeignGas = Math.min(maxItemGas, Math.floor(gasBudget * 0.4));
  const measured = context.gas.current;
  const gas = itemGas(measured, { ...item, slots, toWallet: !item.callsRecipient }, simulation.gas, maxForeignGas);
  const alone = batchGas(measured, [{ ...item, number: item.request.number, gas }], delegates ? 1 : 0).limit;
  // With less than it was simulated with, foreign code would only burn its gas.
  const isCut = simulation.gas != null && gas.limit < Math.min(Number(simulation.gas), maxItemGas);
  // Above the budget, the relay would stop before this item every time, and each transaction would be paid for nothing.
  return { gas, alone, fits: alone <= gasBudget && !isCut };
}

/**
 * No transaction has room for these requests, as far as the gas limit of a block and the measured costs are right. A request fails
 * only if two nodes name both. If another node names a block that has room, the node that is read rests.
 * @throws NodeDisagrees
 */
async function judgeTooLarge(
  { client, ...context }: BatchContext,
  tooLarge: readonly TooLarge[],
  gasBudget: number,
): Promise<{ rejected: RejectedItem[]; held: HeldRequest[] }> {
  if (tooLarge.length === 0) return { rejected: [], held: [] };
  const other = await client.nodes.second(async () => Number((await client.latestBlock()).gasLimit));
  const otherBudget = Math.min(context.gas.current.transactionGas, other ?? 0);
  if (otherBudget > gasBudget && tooLarge.some((one) => countGas({ client, ...context }, one, otherBudget).fits)) {
    const limits = `${gasBudget.toString()} gas, and another node says ${otherBudget.toString()}`;
    client.nodes.skip(new NodeDisagrees(`it says that a transaction can have ${limits}`));
  }
  const isCertain = other !== null && context.gas.confirmed;
  const judged = tooLarge.map(({ item: { request }, alone }) => {
    const message = `The request needs about ${alone.toString()} gas, and one transaction can have ${gasBudget.toString()}.`;
    return { request, message };
  });
  if (!isCertain)
    return {
      rejected: [],
      held: judged.map(({ request, message }) => ({ request, reason: message, waitingFor: "gas_limit" })),
    };
  return {
    rejected: judged.map(({ request, message }) => ({ request, ...failureOf("out_of_gas", message), cause: null })),
    held: [],
  };
}

function encode(
  context: BatchContext,
  request: NumberedRequest,
  command: Command,
  wallets: WalletSigners,
  ownRecipients: Map<string, string>,
): EncodedCall & Pick<EncodedItem, "callsRecipient"> {
  if (!isOfWallet(command)) {
    const toWallet = command.kind === "mint-erc721" && ownRecipients.has(command.to);
    return { ...encodeServiceCall(command, context.contracts, toWallet), callsRecipient: !toWallet };
  }
  const wallet = wallets.get(command.from);
  if (wallet === undefined) throw new Error(`${command.from} is not a wallet of the service`);
  const site = { chainId: context.chainId, contracts: context.contracts, number: request.number };
  return { ...encodeWalletCall(command, wallet.key, site), callsRecipient: true };
}
