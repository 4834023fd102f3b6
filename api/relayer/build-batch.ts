import type { Authorization } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { CloneArgumentsError } from "../chain/clone-arguments.ts";
import { abi, type ContractAddresses } from "../chain/contracts.ts";
import { encodeServiceCall, encodeTransfer, type EncodedCall } from "../chain/encode-call.ts";
import type { Command } from "../domain/command.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { ClaimedRequest } from "../store/sending/claims.ts";
import type { Db } from "../store/db/engine.ts";
import { walletPaths } from "../store/apps/wallets.ts";
import { type EncodedItem, simulate, type SimulatedFailure } from "./simulate.ts";
import { batchGas, type ItemGas, itemGas } from "./gas.ts";
import { signAuthorization } from "./sign.ts";

export interface BatchContext {
  client: ChainClient;
  read: Db;
  keyring: Keyring;
  chainId: bigint;
  contracts: ContractAddresses;
  maxItemGas: number;
}

interface Item extends EncodedItem {
  gas: ItemGas;
}

/** A request that is to end here and now: no call can be made of it, or its call would only burn gas. */
export interface RejectedItem extends SimulatedFailure {
  request: ClaimedRequest;
  /** What an operator should know; null: it is the app's affair alone. */
  cause: unknown;
}

export interface BuiltBatch {
  /** In the order of the calls. */
  requests: ClaimedRequest[];
  /** Claimed, but more than the gas allows: to be given back. */
  left: ClaimedRequest[];
  /** Claimed, but not worth a transaction. */
  rejected: RejectedItem[];
  data: string;
  gasLimit: bigint;
  authorizations: Authorization[];
}

/**
 * Turns claimed requests into one `Relay.execute`, as many as the gas allows.
 * @param block the newest one that the node has.
 */
export async function buildBatch(
  context: BatchContext,
  claimed: ClaimedRequest[],
  gasBudget: number,
  block: number,
): Promise<BuiltBatch> {
  const { items, delegating, rejected } = await prepare(context, claimed, gasBudget, block);
  let size = items.length;
  while (size > 1 && batchGas(items.slice(0, size), countDelegating(items.slice(0, size), delegating)) > gasBudget) {
    size = Math.min(size - 1, Math.floor(size * 0.9));
  }
  const taken = items.slice(0, size);
  const authorizations = [...new Set(taken.map((item) => item.target))].flatMap((target) => {
    const authorization = delegating.get(target);
    return authorization === undefined ? [] : [authorization];
  });
  const calls = taken.map(({ request, target, gas, data }) => ({
    number: request.number,
    target,
    gasLimit: gas.limit,
    data,
  }));
  return {
    requests: taken.map((item) => item.request),
    left: items.slice(size).map((item) => item.request),
    rejected,
    data: abi.relay.encodeFunctionData("execute", [calls]),
    gasLimit: BigInt(Math.min(batchGas(taken, authorizations.length), gasBudget)),
    authorizations,
  };
}

function countDelegating(items: Item[], delegating: Map<string, Authorization>): number {
  return new Set(items.map((item) => item.target).filter((target) => delegating.has(target))).size;
}

/** Reads what the calls depend on, all in a few exchanges with the node, then encodes and signs them. */
async function prepare(context: BatchContext, claimed: ClaimedRequest[], gasBudget: number, block: number) {
  const commands = claimed.map((request) => request.command);
  const transfers = commands.filter((command) => command.kind === "transfer");
  const wallets = await signers(context, [...new Set(transfers.map((transfer) => transfer.from))]);
  const delegating = await authorizations(context, wallets, [
    ...new Set(transfers.filter((transfer) => transfer.foreign).map((transfer) => transfer.from)),
  ]);
  const recipients = commands.flatMap((command) => (command.kind === "mint-erc721" ? [command.to] : []));
  const ownRecipients = await walletPaths(context.read, [...new Set(recipients)]);
  const encoded: EncodedItem[] = [];
  const rejected: RejectedItem[] = [];
  for (const request of claimed) {
    const { command } = request;
    try {
      encoded.push({ request, command, ...encode(context, request, command, wallets, ownRecipients) });
    } catch (error) {
      // One that cannot be encoded must not keep the others from being sent, now and at every further try.
      const reason = error instanceof CloneArgumentsError ? error.message : "No call can be made of it.";
      rejected.push({ request, ...reverted(reason), cause: error });
    }
  }
  const simulations = await simulate(context, encoded, delegating, block);
  const items: Item[] = [];
  // An item's gas counts twice: once as expected, once as the limit that must still be there when it starts.
  const mostForeignGas = Math.min(context.maxItemGas, Math.floor(gasBudget * 0.4));
  for (const [index, item] of encoded.entries()) {
    const foresight = simulations[index];
    const gas = itemGas(item.command, item.data, foresight?.gas, mostForeignGas);
    const alone = batchGas([{ gas, data: item.data }], delegating.has(item.target) ? 1 : 0);
    const { request } = item;
    // One that was signed before may still run on the chain: only the chain may end it.
    const failure = request.status === "pending" ? (foresight?.failure ?? tooExpensive(foresight?.gas, gas)) : null;
    // The relay would stop before it, and the transaction be paid for nothing, again and again.
    if (alone > gasBudget) {
      rejected.push({ request, ...reverted("It needs more gas than a transaction can have."), cause: alone });
    } else if (failure !== null) rejected.push({ request, ...failure, cause: null });
    else items.push({ ...item, gas });
  }
  return { items, delegating, rejected };
}

function reverted(message: string): SimulatedFailure {
  return { errorCode: "execution_reverted", errors: [{ field: "transaction", code: "execution_reverted", message }] };
}

/** Nodes round what they estimate up; nearly all of it must be beyond doubt before a request ends for it. */
const ESTIMATES_EXCEED_BY = 1.25;

/** What foreign code needs more than an item may have fails on the chain, after it has burnt all that it got. */
function tooExpensive(simulated: bigint | null | undefined, allowed: ItemGas): SimulatedFailure | null {
  if (simulated == null || Number(simulated) <= allowed.limit * ESTIMATES_EXCEED_BY) return null;
  return reverted(
    `It needs about ${simulated.toString()} gas, and ${allowed.limit.toString()} are the most for one item.`,
  );
}

function encode(
  context: BatchContext,
  request: ClaimedRequest,
  command: Command,
  wallets: Map<string, Signer>,
  ownRecipients: Map<string, string>,
): EncodedCall {
  if (command.kind !== "transfer") {
    const toWallet = command.kind === "mint-erc721" && ownRecipients.has(command.to);
    return encodeServiceCall(command, context.contracts, toWallet);
  }
  const wallet = wallets.get(command.from);
  if (wallet === undefined) throw new Error(`${command.from} is no wallet of the service`);
  const site = { chainId: context.chainId, contracts: context.contracts, number: request.number };
  return encodeTransfer(command, wallet.key, site);
}

type Signer = ReturnType<Keyring["wallet"]>;

async function signers(context: BatchContext, addresses: string[]): Promise<Map<string, Signer>> {
  const signers = new Map<string, Signer>();
  for (const [address, path] of await walletPaths(context.read, addresses)) {
    const signer = context.keyring.wallet(path);
    // Another seed than the one that made the wallet must never sign in its place.
    if (signer.address !== address)
      throw new Error(`the seed does not make wallet ${address}: is it the right seed file?`);
    signers.set(address, signer);
  }
  return signers;
}

/** Authorizations for the wallets that do not run the delegate's code yet. */
async function authorizations(
  context: BatchContext,
  wallets: Map<string, Signer>,
  addresses: string[],
): Promise<Map<string, Authorization>> {
  const found = new Map<string, Authorization>();
  if (addresses.length === 0) return found;
  const delegated = `0xef0100${context.contracts.delegate.slice(2)}`.toLowerCase();
  const codes = await context.client.code(addresses);
  const without = addresses.filter((_, index) => codes[index]?.toLowerCase() !== delegated);
  const nonces = await context.client.nonces(without);
  for (const [index, address] of without.entries()) {
    const wallet = wallets.get(address);
    const nonce = nonces[index];
    if (wallet === undefined || nonce === undefined) continue;
    const fields = { chainId: context.chainId, address: context.contracts.delegate, nonce };
    found.set(address, signAuthorization(wallet.key, fields));
  }
  return found;
}
