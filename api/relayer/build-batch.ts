import type { Authorization } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { CloneArgumentsError } from "../chain/codec/clone-arguments.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { encodeBatch, type EncodedCall, encodeServiceCall, encodeWalletCall } from "../chain/codec/encode.ts";
import { type CallFailure, failureOf } from "../chain/codec/decode.ts";
import { type Command, isOfWallet, type WalletCommand } from "../domain/command.ts";
import type { GasMeasurement, MintSlots } from "../domain/gas-estimate.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { Db } from "../store/db/sql.ts";
import { walletPaths } from "../store/apps/wallets.ts";
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
  gas: Pick<GasMeter, "current">;
  simulations: ForeignSimulations;
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
  /** Claimed requests that are simulated alone: the caller returns them, and they are looked at again later. */
  deferred: { request: NumberedRequest; retryIn: number }[];
  /** Claimed requests that the caller ends as failed. */
  rejected: RejectedItem[];
  data: string;
  gasLimit: bigint;
  authorizations: Authorization[];
}

/** Authorizations that a batch must carry, by wallet. */
type Delegations = Map<string, Authorization>;

/** The gas that a batch may have. */
export interface Budget {
  /** The highest gas limit of a transaction. */
  gas: number;
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
  const { encoded, delegations, rejected } = await encodeAll(context, claimed);
  const commands = encoded.map(({ command }) => command);
  const [slots, simulations] = await Promise.all([
    BatchSlots.of(context.read, commands),
    simulate(context, encoded, new Set(delegations.keys()), block),
  ]);
  const items: Item[] = [];
  const deferred: BuiltBatch["deferred"] = [];
  for (const [index, item] of encoded.entries()) {
    const simulation = simulations[index] ?? { gas: undefined, failure: null };
    if ("retryIn" in simulation) {
      deferred.push({ request: item.request, retryIn: simulation.retryIn });
      continue;
    }
    const counting = { slots: slots.find(item.command), delegates: delegations.has(item.target), gasBudget };
    const checked = checkItem(context, item, simulation, counting);
    if ("gas" in checked) {
      items.push(checked);
      slots.add(item.command);
    } else {
      rejected.push(checked);
    }
  }
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
    rejected,
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
      taken = taken.slice(0, Math.min(taken.length - 1, Math.floor((taken.length * limit) / needed)));
    }
  };
  const most = fitting(items, budget.gas);
  if (budget.fill === null || most.length === 0) return most;
  const largest = largestLike(gasOf(most), most.length, budget);
  return fitting(most, limitThatFills(largest, budget.fill));
}

/** Reads what the calls depend on with a few RPC calls for all of them, then encodes and signs each. */
async function encodeAll(context: BatchContext, claimed: NumberedRequest[]) {
  const { client, read, keyring, chainId, contracts } = context;
  const commands = claimed.map((request) => request.command);
  const signed = commands.filter(isOfWallet);
  const wallets = await walletSigners(read, keyring, sendersOf(signed));
  const delegations = await signDelegations(client, wallets, sendersOf(signed.filter(({ foreign }) => foreign)), {
    chainId,
    delegate: contracts.delegate,
  });
  const recipients = commands.flatMap((command) => (command.kind === "mint-erc721" ? [command.to] : []));
  const ownRecipients = await walletPaths(read, [...new Set(recipients)]);
  const encoded: EncodedItem[] = [];
  const rejected: RejectedItem[] = [];
  for (const request of claimed) {
    const { command } = request;
    try {
      encoded.push({ request, command, ...encode(context, request, command, wallets, ownRecipients) });
    } catch (error) {
      // One request that cannot be encoded must not block the others, now and at every retry.
      const reason =
        error instanceof CloneArgumentsError ? error.message : "The request cannot be encoded as a contract call.";
      rejected.push({ request, ...failureOf("execution_reverted", reason), cause: error });
    }
  }
  return { encoded, delegations, rejected };
}

function sendersOf(signed: WalletCommand[]): string[] {
  return [...new Set(signed.map(({ from }) => from))];
}

/** Gives an item its gas, or the reason why it must not be sent. */
function checkItem(
  context: BatchContext,
  item: EncodedItem,
  simulation: Simulation,
  { slots, delegates, gasBudget }: { slots: MintSlots; delegates: boolean; gasBudget: number },
): Item | RejectedItem {
  // An item's gas counts twice: once as expected, and once as the limit that must be left when the item starts.
  const maxForeignGas = Math.min(context.maxItemGas, Math.floor(gasBudget * 0.4));
  const measured = context.gas.current;
  const { request } = item;
  const gas = itemGas(measured, { ...item, slots, toWallet: !item.callsRecipient }, simulation.gas, maxForeignGas);
  const counted = { ...item, number: request.number, gas };
  const alone = batchGas(measured, [counted], delegates ? 1 : 0).limit;
  // The relay would stop before this item every time, and each transaction would be paid for nothing.
  if (alone > gasBudget) {
    const message = `The request needs about ${alone} gas, and one transaction can have ${gasBudget}.`;
    return { request, ...failureOf("out_of_gas", message), cause: null };
  }
  // A request that was signed before may still run on chain: only the chain may end it.
  const failure =
    request.status === "pending" ? (simulation.failure ?? tooExpensive(simulation.gas, counted.gas)) : null;
  return failure === null ? counted : { request, ...failure, cause: null };
}

/** Nodes round their estimates up. A request fails only when nearly all of the estimate is certain. */
const ESTIMATE_MARGIN = 1.25;

/** Foreign code that needs more gas than an item may use fails on chain, after it burnt all of it. */
function tooExpensive(simulated: bigint | null | undefined, allowed: ItemGas): CallFailure | null {
  if (simulated == null || Number(simulated) <= allowed.limit * ESTIMATE_MARGIN) return null;
  return failureOf(
    "out_of_gas",
    `The request needs about ${simulated.toString()} gas. One request may use ${allowed.limit} (MAX_ITEM_GAS).`,
  );
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
