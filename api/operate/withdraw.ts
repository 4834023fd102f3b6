import { formatEther, toQuantity, Transaction } from "ethers";

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
  endWithdrawal,
  openWithdrawals,
  type RecordedWithdrawal,
  recordWithdrawal,
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
): Promise<RecordedWithdrawal> {
  const { database, client, chainId, keyring } = place;
  const { wallet, to } = order;
  const path = (await walletPaths(database.read, [wallet])).get(wallet);
  if (path === undefined) throw new OperatorError(`${wallet} is not a wallet of this service.`);
  if (to === wallet) throw new OperatorError("--to is the wallet itself.");
  const { key, address } = keyring.wallet(path);
  if (address !== wallet)
    throw new OperatorError(`The seed does not make wallet ${wallet}. Set SEED_FILE to the seed of this database.`);
  const [recorded] = await openWithdrawals(database.read, [wallet]);
  const open = recorded === undefined || (await outcomeOf(place, recorded)) !== null ? null : recorded;
  if (open !== null && !order.replaces) return requireSame(order, open);
  if (order.replaces) await requireUnmined(client, open);
  const quote = await quoteFor(place, order, open);
  await confirm(quote.value, quote.gasLimit * quote.maxFeePerGas);
  const nonce = open?.nonce ?? (await agreedNonce(client, wallet));
  const transaction = Transaction.from({ type: 2, chainId, nonce, to, ...quote });
  transaction.signature = signDigest(key, transaction.unsignedHash);
  const signed = { wallet, to, value: quote.value, nonce, hash: transaction.hash ?? "", raw: transaction.serialized };
  const made = await database.write((trx) => recordWithdrawal(trx, signed, open?.id ?? null, Date.now()));
  if ("id" in made) return { ...signed, id: made.id };
  throw new OperatorError(
    `The wallet's next nonce may be in use: ${made.busy} is being sent. Nothing was sent. Run this again when that is final.`,
  );
}

function requireSame({ to, amount }: Withdraw, open: RecordedWithdrawal): RecordedWithdrawal {
  if (to === open.to && (amount === null || amount === open.value)) return open;
  throw new OperatorError(
    `The wallet has another withdrawal, which is not final: ${formatEther(open.value)} to ${open.to} with transaction ` +
      `${open.hash}. Continue that one with --to ${open.to}, or add --replace to send this one in its place.`,
  );
}

async function requireUnmined(client: ChainClient, open: RecordedWithdrawal | null): Promise<void> {
  if (open === null) throw new OperatorError("The wallet has no open withdrawal to replace.");
  const [receipt] = await client.receipts([open.hash]);
  if (receipt == null) return;
  const block = receipt.blockNumber.toString();
  throw new OperatorError(`Block ${block} has the transaction ${open.hash}. Wait until it is final.`);
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
  before: RecordedWithdrawal | null,
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
  withdrawal: RecordedWithdrawal,
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
  withdrawal: RecordedWithdrawal,
): Promise<WithdrawalOutcome | null> {
  const outcome = await withdrawalOutcome(client, withdrawal, await confirmedBlock(database.read));
  if (outcome !== null) await database.write((trx) => endWithdrawal(trx, withdrawal.id, outcome));
  return outcome;
}
