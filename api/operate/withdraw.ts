import { formatEther, type SigningKey, toQuantity, Transaction } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable, RpcError } from "../chain/errors.ts";
import { l1DataFee } from "../chain/l1-data.ts";
import { withdrawalOutcome } from "../chain/withdrawal.ts";
import { offeredPrice } from "../domain/conditions.ts";
import type { WithdrawalOutcome } from "../domain/withdrawal.ts";
import type { Keyring } from "../keys/keyring.ts";
import { signDigest } from "../shared/crypto.ts";
import { pause } from "../shared/pause.ts";
import { walletPaths } from "../store/apps/wallets.ts";
import {
  beginWithdrawal,
  dropWithdrawal,
  endWithdrawal,
  openWithdrawals,
  recordWithdrawal,
  replaceWithdrawal,
  type WithdrawalOrder,
} from "../store/apps/withdrawals.ts";
import type { Database } from "../store/db/database.ts";
import { confirmedBlock } from "../store/db/meta.ts";
import { OperatorError } from "./operator-error.ts";

/** What a withdrawal works with. */
export interface WithdrawPlace {
  database: Database;
  client: ChainClient;
  chainId: bigint;
  keyring: Keyring;
  /** Highest price for a unit of gas, in wei. */
  maxFeePerGas: bigint;
}

/** Addresses in EIP-55 form. */
export interface Withdraw {
  wallet: string;
  to: string;
  /** In wei; null: all that the gas leaves. */
  amount: bigint | null;
  /** Whether to sign anew what no block has contained yet. */
  replaces: boolean;
}

/** A withdrawal whose transaction is signed and recorded. */
export interface Withdrawal extends WithdrawalOrder {
  id: number;
  nonce: number;
  hash: string;
  raw: string;
  /** Whether an earlier command recorded it. */
  isContinued: boolean;
}

/** What the transaction offers for gas. */
interface Quote {
  value: bigint;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** A plain transfer to an account. */
const TRANSFER_GAS = 21_000n;
/** Milliseconds between two looks for the transaction. */
const POLL = 500;

/**
 * Signs a transaction that moves coins out of a wallet, and records it. A withdrawal of the wallet that is still open is continued,
 * or replaced by one with the same nonce: so there are never two for the same coins.
 * @param confirm is asked before anything is signed. @throws OperatorError
 */
export async function makeWithdrawal(
  place: WithdrawPlace,
  order: Withdraw,
  confirm: (value: bigint, most: bigint) => Promise<void>,
): Promise<Withdrawal> {
  const { database, keyring } = place;
  const path = (await walletPaths(database.read, [order.wallet])).get(order.wallet);
  if (path === undefined) throw new OperatorError(`${order.wallet} is not a wallet of this service.`);
  if (order.to === order.wallet) throw new OperatorError("--to is the wallet itself.");
  const { key, address } = keyring.wallet(path);
  if (address !== order.wallet)
    throw new OperatorError(
      `The seed does not make wallet ${order.wallet}. Set SEED_FILE to the seed of this database.`,
    );
  const open = await openOf(place, order.wallet);
  if (open !== null && !order.replaces) return requireSame(order, open);
  if (open === null && order.replaces) throw new OperatorError("The wallet has no open withdrawal to replace.");
  const quote = await quoteFor(place, order, open);
  await confirm(quote.value, quote.gasLimit * quote.maxFeePerGas);
  const sign = (nonce: number) => signed(key, { chainId: place.chainId, nonce, to: order.to, ...quote });
  const { value } = quote;
  return open === null ? begin(place, { ...order, value }, sign) : replace(place, { ...order, value }, open, sign);
}

/** The wallet's withdrawal that is signed and not final; null: there is none. */
async function openOf(place: WithdrawPlace, wallet: string): Promise<Withdrawal | null> {
  const [found] = await openWithdrawals(place.database.read, [wallet], Date.now());
  if (found?.transaction == null) return null;
  const { transaction, ...order } = found;
  const open = { ...order, ...transaction, isContinued: true };
  return (await outcomeOf(place, open)) === null ? open : null;
}

function requireSame({ to, amount }: Withdraw, open: Withdrawal): Withdrawal {
  if (to === open.to && (amount === null || amount === open.value)) return open;
  throw new OperatorError(
    `The wallet has another withdrawal, which is not final: ${formatEther(open.value)} to ${open.to} with transaction ` +
      `${open.hash}. Continue that one with --to ${open.to}, or add --replace to send this one in its place.`,
  );
}

type Sign = (nonce: number) => Pick<Withdrawal, "nonce" | "hash" | "raw">;

/** Holds the wallet's requests back, then signs with its next nonce. */
async function begin(
  { database, client }: WithdrawPlace,
  { wallet, to, value }: WithdrawalOrder,
  sign: Sign,
): Promise<Withdrawal> {
  const id = await database.write((trx) => beginWithdrawal(trx, { wallet, to, value }, Date.now()));
  if (id === null) throw new OperatorError("Another command has begun a withdrawal of this wallet. Run this again.");
  try {
    // Read after the commit: no request of the wallet uses a nonce any more.
    const transaction = sign(await agreedNonce(client, wallet));
    const busy = await database.write((trx) => recordWithdrawal(trx, { id, wallet, now: Date.now(), ...transaction }));
    if (busy !== null) throw new OperatorError(busyWords(busy));
    return { id, wallet, to, value, ...transaction, isContinued: false };
  } catch (error) {
    await database.write((trx) => dropWithdrawal(trx, id));
    throw error;
  }
}

/** The chain takes one of two transactions with the same nonce. */
async function replace(
  { database, client }: WithdrawPlace,
  { wallet, to, value }: WithdrawalOrder,
  open: Withdrawal,
  sign: Sign,
): Promise<Withdrawal> {
  const [receipt] = await client.receipts([open.hash]);
  if (receipt != null)
    throw new OperatorError(
      `Block ${receipt.blockNumber.toString()} has the transaction ${open.hash}. Wait until it is final.`,
    );
  const transaction = sign(open.nonce);
  const id = await database.write((trx) =>
    replaceWithdrawal(trx, open.id, { wallet, to, value, ...transaction }, Date.now()),
  );
  return { id, wallet, to, value, ...transaction, isContinued: false };
}

function signed(key: SigningKey, fields: Quote & { chainId: bigint; nonce: number; to: string }) {
  const transaction = Transaction.from({ type: 2, ...fields });
  transaction.signature = signDigest(key, transaction.unsignedHash);
  return { nonce: fields.nonce, hash: transaction.hash ?? "", raw: transaction.serialized };
}

function busyWords(busy: string): string {
  if (busy === "gone")
    return "Another command has begun a withdrawal of this wallet, or this one took too long. Run this again.";
  return (
    `Request ${busy} of the wallet is being sent, and may use the wallet's next nonce. Nothing was signed. Run this again when ` +
    `\`request show ${busy}\` says that it is completed or failed.`
  );
}

/** @throws OperatorError when the nodes name different nonces */
async function agreedNonce(client: ChainClient, wallet: string): Promise<number> {
  const named = (await client.nodes.each(() => client.nonces([wallet]))).flatMap(([nonce]) => nonce ?? []);
  const [nonce] = named;
  if (nonce !== undefined && named.every((other) => other === nonce)) return nonce;
  throw new OperatorError("The nodes name different nonces of the wallet. Nothing was signed. Run this again.");
}

/** @param before the version that it replaces. @throws OperatorError when the wallet cannot pay, or the receiver refuses */
async function quoteFor(
  { client, chainId, maxFeePerGas: most }: WithdrawPlace,
  order: Withdraw,
  before: Withdrawal | null,
): Promise<Quote> {
  const { wallet, to, amount } = order;
  const [balance, block, tip] = await Promise.all([client.balance(wallet), client.latestBlock(), client.priorityFee()]);
  const offered = offeredPrice(block.baseFeePerGas ?? 0n, tip, most);
  const { maxFeePerGas: fee, maxPriorityFeePerGas: priority } = Transaction.from(before?.raw);
  const maxFeePerGas = higher(offered, raised(fee));
  if (offered < (block.baseFeePerGas ?? 0n) + tip || maxFeePerGas > most)
    throw new OperatorError("Gas costs more than MAX_FEE_GWEI allows. Wait for lower fees, or raise it.");
  const gasLimit = await gasFor(client, { from: wallet, to, value: toQuantity(amount ?? balance / 2n) });
  const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas: higher(tip, raised(priority)) };
  const sample = Transaction.from({ type: 2, chainId, nonce: 2 ** 32, to, value: balance, ...fees });
  const l1Fee = await l1DataFee(client, sample.unsignedSerialized);
  // A rollup takes the fee for its data beside the gas, and it may rise before the transaction is mined.
  const costs = gasLimit * maxFeePerGas + 2n * l1Fee;
  const value = amount ?? balance - costs;
  if (value <= 0n || value + costs > balance)
    throw new OperatorError(
      `The wallet has ${formatEther(balance)} ether. Its gas may cost up to ${formatEther(costs)} ether, so it cannot send ` +
        `${amount === null ? "anything" : `${formatEther(amount)} ether`}. Nothing was signed.`,
    );
  return { value, ...fees };
}

/** Nodes take a replacement whose fees are higher by 10 %. */
function raised(fee: bigint | null): bigint {
  return fee === null ? 0n : (fee * 9n) / 8n + 1n;
}

function higher(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** A receiver with code may need more than an account. @throws OperatorError when it refuses */
async function gasFor(client: ChainClient, call: { from: string; to: string; value: string }): Promise<bigint> {
  try {
    const gas = BigInt(String(await client.call("eth_estimateGas", [call])));
    return gas <= TRANSFER_GAS ? TRANSFER_GAS : (gas * 5n) / 4n;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const reason = error.message;
    throw new OperatorError(`The node says that the transaction would fail: ${reason}. Nothing was signed.`, {
      cause: error,
    });
  }
}

/**
 * Broadcasts the recorded bytes, and waits until they are final.
 * @param wait milliseconds. @param say told what the nodes answered, if they did not accept them.
 * @returns null when it is not final by then: the same command continues it.
 */
export async function sendWithdrawal(
  place: WithdrawPlace,
  withdrawal: Withdrawal,
  wait: number,
  say: (line: string) => void,
): Promise<WithdrawalOutcome | null> {
  try {
    await place.client.broadcast(withdrawal.raw);
  } catch (error) {
    // Neither error proves that no node took them: a repeated command sends bytes that are known.
    if (!(error instanceof RpcError) && !(error instanceof ChainUnavailable)) throw error;
    say(`The nodes did not say that they accept the transaction: ${error instanceof Error ? error.message : ""}`);
  }
  const deadline = performance.now() + wait;
  for (;;) {
    const outcome = await outcomeOf(place, withdrawal);
    if (outcome !== null || performance.now() >= deadline) return outcome;
    await pause(POLL);
  }
}

/** How it ended, which is stored; null: it is not final. */
async function outcomeOf(
  { client, database }: WithdrawPlace,
  withdrawal: Pick<Withdrawal, "id" | "wallet" | "nonce" | "hash">,
): Promise<WithdrawalOutcome | null> {
  const outcome = await withdrawalOutcome(client, withdrawal, await confirmedBlock(database.read));
  if (outcome !== null) await database.write((trx) => endWithdrawal(trx, withdrawal.id, outcome));
  return outcome;
}
