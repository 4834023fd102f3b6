import type { Authorization } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { CloneArgumentsError } from "../chain/clone-arguments.ts";
import { abi, type ContractAddresses } from "../chain/contracts.ts";
import { encodeServiceCall, encodeTransfer, type EncodedCall } from "../chain/encode-call.ts";
import type { Command } from "../domain/command.ts";
import type { Keyring } from "../keys/keyring.ts";
import type { ClaimedRequest } from "../store/batches.ts";
import type { Db } from "../store/engine.ts";
import { commandOf } from "../store/request-state.ts";
import { walletPaths } from "../store/wallet-paths.ts";
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

interface Item extends EncodedCall {
  request: ClaimedRequest;
  command: Command;
  gas: ItemGas;
}

export interface Impossible {
  request: ClaimedRequest;
  /** For the app. */
  reason: string;
  /** For the log. */
  cause: unknown;
}

export interface BuiltBatch {
  /** In the order of the calls. */
  requests: ClaimedRequest[];
  /** Claimed, but more than the gas allows: to be given back. */
  left: ClaimedRequest[];
  /** Claimed, but no call can be made of them, now or ever. */
  impossible: Impossible[];
  data: string;
  gasLimit: bigint;
  authorizations: Authorization[];
}

/** Turns claimed requests into one `Relay.execute`, as many as the gas allows. */
export async function buildBatch(
  context: BatchContext,
  claimed: ClaimedRequest[],
  gasBudget: number,
): Promise<BuiltBatch> {
  const { items, delegating, impossible } = await prepare(context, claimed, gasBudget);
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
    impossible,
    data: abi.relay.encodeFunctionData("execute", [calls]),
    gasLimit: BigInt(Math.min(batchGas(taken, authorizations.length), gasBudget)),
    authorizations,
  };
}

function countDelegating(items: Item[], delegating: Map<string, Authorization>): number {
  return new Set(items.map((item) => item.target).filter((target) => delegating.has(target))).size;
}

/** Reads what the calls depend on, all in a few exchanges with the node, then encodes and signs them. */
async function prepare(context: BatchContext, claimed: ClaimedRequest[], gasBudget: number) {
  const commands = claimed.map(commandOf);
  const transfers = commands.filter((command) => command.kind === "transfer");
  const wallets = await signers(context, [...new Set(transfers.map((transfer) => transfer.from))]);
  const delegating = await authorizations(context, wallets, [
    ...new Set(transfers.filter((transfer) => transfer.foreign).map((transfer) => transfer.from)),
  ]);
  const recipients = commands.flatMap((command) => (command.kind === "mint-erc721" ? [command.to] : []));
  const ownRecipients = await walletPaths(context.read, [...new Set(recipients)]);
  const encoded: ({ request: ClaimedRequest; command: Command } & EncodedCall)[] = [];
  const impossible: Impossible[] = [];
  for (const [index, request] of claimed.entries()) {
    const command = commands[index] ?? commandOf(request);
    try {
      encoded.push({ request, command, ...encode(context, request, command, wallets, ownRecipients) });
    } catch (error) {
      // One that cannot be encoded must not keep the others from being sent, now and at every further try.
      const reason = error instanceof CloneArgumentsError ? error.message : "No call can be made of it.";
      impossible.push({ request, reason, cause: error });
    }
  }
  const simulated = await simulate(context, encoded, delegating);
  const items: Item[] = [];
  // An item's gas counts twice: once as expected, once as the limit that must still be there when it starts.
  const mostForeignGas = Math.floor(gasBudget * 0.4);
  for (const [index, item] of encoded.entries()) {
    const gas = itemGas(item.command, item.data, simulated[index], Math.min(context.maxItemGas, mostForeignGas));
    const alone = batchGas([{ gas, data: item.data }], delegating.has(item.target) ? 1 : 0);
    // The relay would stop before it, and the transaction be paid for nothing, again and again.
    if (alone > gasBudget) {
      impossible.push({
        request: item.request,
        reason: "It needs more gas than a transaction can have.",
        cause: alone,
      });
    } else items.push({ ...item, gas });
  }
  return { items, delegating, impossible };
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
  const site = { chainId: context.chainId, contracts: context.contracts, number: BigInt(request.number) };
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

/** Gas of the items in which code runs that is not ours: a receiver's, or a foreign contract's. */
async function simulate(
  context: BatchContext,
  items: ({ request: ClaimedRequest; command: Command } & EncodedCall)[],
  delegating: Map<string, Authorization>,
): Promise<(bigint | null | undefined)[]> {
  const recipients = [...new Set(items.flatMap((item) => ("to" in item.command ? [item.command.to] : [])))];
  const codes = new Map<string, string>();
  for (const [index, code] of (await context.client.code(recipients)).entries()) {
    codes.set(recipients[index] ?? "", code);
  }
  const delegated = `0xef0100${context.contracts.delegate.slice(2)}`.toLowerCase();
  const runsForeignCode = ({ command }: { command: Command }) => {
    if (command.kind === "transfer" && command.foreign) return true;
    const code = "to" in command ? codes.get(command.to) : undefined;
    return code !== undefined && code !== "0x" && code.toLowerCase() !== delegated;
  };
  const simulatable = items.filter((item) => runsForeignCode(item) && !delegating.has(item.target));
  const estimates = await context.client.estimates(
    simulatable.map((item) => ({
      from: context.contracts.relay,
      to: item.target,
      // As the relay will call it: with the number behind the data.
      data: item.data + BigInt(item.request.number).toString(16).padStart(64, "0"),
    })),
  );
  return items.map((item) => {
    if (!runsForeignCode(item)) return undefined;
    const index = simulatable.indexOf(item);
    return index === -1 ? null : (estimates[index] ?? null);
  });
}
