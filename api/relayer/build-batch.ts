import type { Authorization } from "ethers";

import { CloneArgumentsError } from "../chain/codec/clone-arguments.ts";
import { failureOf } from "../chain/codec/decode.ts";
import { encodeBatch, type EncodedCall, encodeServiceCall, encodeWalletCall } from "../chain/codec/encode.ts";
import { mintFunction, NoMintFunction } from "../chain/codec/mint-function.ts";
import { NodeDisagrees } from "../chain/errors.ts";
import { withdrawalState } from "../chain/withdrawal.ts";
import { isAdoptedMint, isOfWallet, type WalletCommand } from "../domain/command.ts";
import type { GasMeasurement, MintSlots } from "../domain/gas-estimate.ts";
import { MAX_BATCH } from "../domain/request.ts";
import { Slices } from "../shared/in-slices.ts";
import { signingWallets } from "../store/apps/wallets.ts";
import { endWithdrawal, openWithdrawals } from "../store/apps/withdrawals.ts";
import { confirmedBlock } from "../store/db/meta.ts";
import { mintingOf, type MintingRow } from "../store/requests/minting.ts";
import type { NumberedRequest } from "../store/requests/requests.ts";
import type { Unsent } from "../store/sending/claims.ts";
import type { CanSend } from "./can-send.ts";
import type { RelayerContext } from "./context.ts";
import { batchGas, BatchSlots, expectedOf, type ItemGas, itemGas } from "./gas.ts";
import { largestLike, limitThatFills } from "./pace.ts";
import { signDelegations, walletSigners, type WalletSigners } from "./sign.ts";
import { type EncodedItem, simulate, type SimulatedItem } from "./simulate.ts";

/** One transaction, and the claimed requests that it does not carry. */
export interface Batch {
  /** In the order of the calls. */
  requests: NumberedRequest[];
  /** The gas that each of them is expected to use: its weight in the shares of the transaction's cost. */
  weights: number[];
  data: string;
  gasLimit: bigint;
  /** Of the wallets that delegate with this transaction. */
  delegations: Authorization[];
  unsent: Unsent[];
  /** Whether requests were left out because their gas does not fit. */
  isFull: boolean;
}

/** A call whose gas is known, and fits into a transaction. */
interface SizedItem extends EncodedItem {
  gas: ItemGas;
}

/** Milliseconds after which it is looked again whether a withdrawal is final. */
const WITHDRAWAL_WAIT = 2_000;

const OFF = "The operator has switched off minting into this contract.";
/** Milliseconds after which it is looked again whether an adopted contract is read to its end. */
const UNREAD_WAIT = 2_000;

/** The delegations that a batch must carry, by wallet: authorizations, as EIP-7702 calls them. */
type Delegations = Map<string, Authorization>;

/** What a request says that waits because its wallet cannot delegate. */
const NOT_SIGNED = {
  "nodes disagree": {
    heldBy: "The nodes name different nonces of the wallet, and its delegation needs the right one.",
    waitingFor: "nodes_disagree",
  },
  "delegated elsewhere": {
    heldBy:
      "Somebody else with the key of the imported wallet has delegated it to another contract. Import it again with --replace-delegations.",
    waitingFor: "unknown",
  },
} as const;

/**
 * Turns claimed requests into one `Relay.execute`, as many as its gas allows. A request whose batches reverted as a whole shares it
 * with fewer and fewer others.
 * @param able what the node says that is read now.
 * @param affordable the gas limit that the lane can pay for. One request is sent with more: it waits until the lane is funded.
 * @param fill the gas limit of the blocks that batches like this one fill together; null: the batch is as large as possible.
 */
export async function buildBatch(
  context: RelayerContext,
  claimed: readonly NumberedRequest[],
  { block, mostGas }: CanSend,
  { affordable, fill }: { affordable: number; fill: number | null },
): Promise<Batch> {
  const measured = context.gas.current;
  const [together = [], ...apart] = Map.groupBy(claimed, companyOf).values();
  const returns = together.map((request) => request.returns);
  const size = batchSize(returns, MAX_BATCH);
  const { encoded, delegations, unsent } = await encodeAll(context, together.slice(0, size), block);
  const [slots, simulation] = await Promise.all([
    BatchSlots.of(
      context.database.read,
      encoded.map(({ command }) => command),
    ),
    simulate(context, encoded, new Set(delegations.keys()), block),
  ]);
  unsent.push(...simulation.unsent);
  const items: SizedItem[] = [];
  const tooLarge: Countable[] = [];
  for (const item of simulation.simulated) {
    const { command, target } = item;
    const counted = { ...item, slots: slots.find(command), delegates: delegations.has(target) };
    const { gas, fits } = countGas(context, counted, mostGas);
    if (fits) {
      items.push({ ...item, gas });
      slots.add(command);
    } else tooLarge.push(counted);
  }
  unsent.push(...(await judgeTooLarge(context, tooLarge, mostGas)));
  const taken = takeFitting(measured, items, delegations, { gas: mostGas, affordable, fill });
  const left = [...items.slice(taken.length).map(({ request }) => request), ...together.slice(size), ...apart.flat()];
  unsent.push(...left.map((request) => ({ kind: "ready" as const, request, retryIn: 0, waitingFor: null })));
  const targets = [...new Set(taken.map(({ target }) => target))];
  const carried = targets.flatMap((target) => delegations.get(target) ?? []);
  return {
    requests: taken.map(({ request }) => request),
    weights: taken.map((item) => expectedOf(measured, item)),
    data: encodeBatch(taken.map(({ number, target, gas, data }) => ({ number, target, gasLimit: gas.limit, data }))),
    gasLimit: BigInt(Math.min(batchGas(measured, taken, carried.length).limit, mostGas)),
    delegations: carried,
    unsent,
    isFull: taken.length < items.length,
  };
}

/**
 * Only requests with the same answer share a transaction. The mints that an adopted contract logs are counted for each transaction: a
 * call of another app could run foreign code there that mints into the contract, too.
 */
function companyOf({ command, app_id: app }: NumberedRequest): string {
  return isAdoptedMint(command) ? app : "";
}

/**
 * How many of the claimed requests, from the first, may share a transaction. Each time a whole batch reverted, its requests
 * halve the size of their next batch. Requests in front of them are not delayed.
 * @param returns how often each request was in a batch that reverted, in order.
 */
export function batchSize(returns: readonly number[], most: number): number {
  let size = 0;
  let worst = 0;
  for (const count of returns) {
    worst = Math.max(worst, count);
    if (size + 1 > Math.max(1, most / 2 ** worst)) break;
    size += 1;
  }
  return size;
}

/** The items, from the first, that one transaction runs. */
function takeFitting(
  measured: GasMeasurement,
  items: SizedItem[],
  delegations: Delegations,
  limit: { gas: number; affordable: number; fill: number | null },
): SizedItem[] {
  const gasOf = (taken: SizedItem[]) => {
    const targets = new Set(taken.map((item) => item.target));
    return batchGas(measured, taken, [...targets].filter((target) => delegations.has(target)).length);
  };
  const fitting = (from: SizedItem[], most: number) => {
    let taken = from;
    for (;;) {
      const needed = gasOf(taken).limit;
      if (needed <= most || taken.length <= 1) return taken;
      // Items share some gas, so the gas falls more slowly than their number: this takes away too few rather than too many.
      const fits = Math.floor((taken.length * most) / needed);
      taken = taken.slice(0, Math.max(1, Math.min(taken.length - 1, fits)));
    }
  };
  const most = fitting(items, Math.min(limit.gas, limit.affordable));
  if (limit.fill === null || most.length === 0) return most;
  const largest = largestLike(gasOf(most), most.length, { items: MAX_BATCH, gas: limit.gas });
  return fitting(most, limitThatFills(largest, limit.fill));
}

/** How a request mints into an adopted contract, or why not now; undefined: it does not. */
function mintingOfRequest(
  request: NumberedRequest,
  mintable: Awaited<ReturnType<typeof mintingOf>>,
): MintingRow | Unsent | undefined {
  const { command } = request;
  if (!isAdoptedMint(command)) return undefined;
  const minting = mintable.get(command.collection);
  const stopped = minting === undefined || minting.mint_function === "" ? OFF : minting.stopped;
  if (stopped !== null)
    return { kind: "fails", request, failure: failureOf("service_cannot_mint", stopped), cause: null };
  if (minting?.followed !== 1) return { kind: "ready", request, retryIn: UNREAD_WAIT, waitingFor: "simulation" };
  return minting;
}

/** Reads what the calls depend on with a few RPC calls for all of them, then encodes and signs each. */
async function encodeAll(context: RelayerContext, claimed: readonly NumberedRequest[], block: number) {
  const { database, keyring, doubts } = context;
  const commands = claimed.map(({ command }) => command);
  const signed = commands.filter(isOfWallet);
  const withdrawing = await walletsThatWithdraw(context, sendersOf(signed));
  const wallets = await walletSigners(database.read, keyring, sendersOf(signed));
  const signedDelegations = await signDelegations(context, wallets, sendersOf(signed.filter(({ foreign }) => foreign)));
  const recipients = commands.flatMap((command) => (command.kind === "mint-erc721" ? [command.to] : []));
  const ownRecipients = await signingWallets(database.read, [...new Set(recipients)]);
  const mintable = await mintingOf(
    database.read,
    new Set(commands.flatMap((command) => (isAdoptedMint(command) ? [command.collection] : []))),
  );
  const encoded: EncodedItem[] = [];
  const unsent: Unsent[] = [];
  const delegations: Delegations = new Map();
  const slices = new Slices();
  for (const request of claimed) {
    await slices.next();
    const { command, number } = request;
    if (isOfWallet(command) && withdrawing.has(command.from)) {
      unsent.push({ kind: "ready", request, retryIn: WITHDRAWAL_WAIT, waitingFor: "withdrawal" });
      continue;
    }
    const wallet = isOfWallet(command) && command.foreign ? command.from : null;
    const delegation = wallet === null ? undefined : signedDelegations.get(wallet);
    if (typeof delegation === "string") {
      unsent.push({ kind: "held", request, ...NOT_SIGNED[delegation] });
      continue;
    }
    if (wallet !== null && delegation !== undefined) {
      const { authorization, doubtful } = delegation;
      const said = `nonce ${authorization.nonce.toString()}`;
      const retryIn = doubtful ? doubts.wait({ id: wallet, app_id: request.app_id }, said, block) : null;
      if (retryIn !== null) {
        unsent.push({ kind: "ready", request, retryIn, waitingFor: "simulation" });
        continue;
      }
      delegations.set(wallet, authorization);
    }
    const minting = mintingOfRequest(request, mintable);
    if (minting !== undefined && "kind" in minting) {
      unsent.push(minting);
      continue;
    }
    try {
      encoded.push({ request, number, command, minting, ...encode(context, request, wallets, ownRecipients, minting) });
    } catch (error) {
      // One request that cannot be encoded must not block the others, now and at every retry.
      const reason =
        error instanceof CloneArgumentsError || error instanceof NoMintFunction
          ? error.message
          : "The request cannot be encoded as a contract call.";
      unsent.push({ kind: "fails", request, failure: failureOf("execution_reverted", reason), cause: error });
    }
  }
  return { encoded, delegations, unsent };
}

/**
 * The wallets whose requests wait for a withdrawal: it uses the wallet's next nonce, and so may an authorization. A withdrawal that
 * is final is ended here, because its command may have ended before.
 */
async function walletsThatWithdraw({ client, database }: RelayerContext, wallets: string[]) {
  const open = await openWithdrawals(database.read, wallets);
  for (const [wallet, versions] of open) {
    const state = await withdrawalState(client, versions, await confirmedBlock(database.read));
    if (state.status === "open") continue;
    await database.write((trx) => endWithdrawal(trx, versions, state));
    open.delete(wallet);
  }
  return open;
}

function sendersOf(signed: WalletCommand[]): string[] {
  return [...new Set(signed.map(({ from }) => from))];
}

function encode(
  { contracts, chainId }: RelayerContext,
  { command, number }: NumberedRequest,
  wallets: WalletSigners,
  ownRecipients: ReadonlySet<string>,
  minting: MintingRow | undefined,
): EncodedCall & { callsRecipient: boolean } {
  if (minting !== undefined && isAdoptedMint(command))
    return {
      target: command.collection,
      data: mintFunction(minting.mint_function).encode(command),
      callsRecipient: true,
    };
  if (!isOfWallet(command)) {
    const toWallet = command.kind === "mint-erc721" && ownRecipients.has(command.to);
    return { ...encodeServiceCall(command, contracts, toWallet), callsRecipient: !toWallet };
  }
  const wallet = wallets.get(command.from);
  if (wallet === undefined) throw new Error(`${command.from} is not a wallet of the service`);
  return { ...encodeWalletCall(command, wallet.key, { chainId, contracts, number }), callsRecipient: true };
}

/** What the gas of an item depends on. */
interface Countable extends SimulatedItem {
  slots: MintSlots;
  /** Whether its transaction must carry an authorization for it. */
  delegates: boolean;
}

/**
 * The gas of an item.
 * @param most the highest gas limit of a transaction.
 * @returns it with what a transaction with this item alone needs, and whether it fits into one.
 */
function countGas({ gas: { current: measured }, maxItemGas }: RelayerContext, item: Countable, most: number) {
  // An item's gas counts twice: once as expected, and once as the limit that must be left when the item starts.
  const maxForeignGas = Math.min(maxItemGas, Math.floor(most * 0.4));
  const gas = itemGas(measured, { ...item, toWallet: !item.callsRecipient }, item.simulated, maxForeignGas);
  const alone = batchGas(measured, [{ ...item, gas }], item.delegates ? 1 : 0).limit;
  // With less than it was simulated with, foreign code would only burn its gas.
  const isCut = typeof item.simulated === "bigint" && gas.limit < Math.min(Number(item.simulated), maxItemGas);
  // Above the limit, the relay would stop before this item every time, and each transaction would be paid for nothing.
  return { gas, alone, fits: alone <= most && !isCut };
}

/**
 * These requests fit into no transaction, as far as the gas limit of a block and the measured costs are right. A request fails only
 * if two nodes name both. If another node names a block into which one fits, the node that is read rests.
 * @throws NodeDisagrees
 */
async function judgeTooLarge(context: RelayerContext, tooLarge: readonly Countable[], most: number): Promise<Unsent[]> {
  if (tooLarge.length === 0) return [];
  const { client, gas } = context;
  const other = await client.nodes.second(async () => Number((await client.latestBlock()).gasLimit));
  const otherMost = Math.min(gas.current.transactionGas, other ?? 0);
  if (otherMost > most && tooLarge.some((one) => countGas(context, one, otherMost).fits)) {
    const limits = `${most.toString()} gas, and another node says ${otherMost.toString()}`;
    return client.nodes.skip(new NodeDisagrees(`it says that a transaction can have ${limits}`));
  }
  const isCertain = other !== null && gas.confirmed;
  return tooLarge.map((one) => {
    const { request } = one;
    const needed = countGas(context, one, most).alone.toString();
    const message = `The request needs about ${needed} gas, and one transaction can have ${most.toString()}.`;
    if (!isCertain) return { kind: "held", request, heldBy: message, waitingFor: "gas_limit" };
    return { kind: "fails", request, failure: failureOf("out_of_gas", message), cause: null };
  });
}
