import { formatEther, hexlify, randomBytes, toQuantity, Transaction, ZeroAddress } from "ethers";

import type { ChainClient } from "../chain/client.ts";
import { l1DataFee } from "../chain/l1-data.ts";
import { type WithdrawalState, withdrawalState } from "../chain/withdrawal.ts";
import { offeredPrice } from "../domain/conditions.ts";
import { MAX_TRANSACTION_GAS } from "../domain/gas-estimate.ts";
import { replacementFees } from "../domain/wei.ts";
import type { Keyring } from "../keys/keyring.ts";
import { signDigest } from "../shared/crypto.ts";
import { pause } from "../shared/pause.ts";
import { storedWallets } from "../store/apps/imported-keys.ts";
import { endWithdrawal, openWithdrawals, recordWithdrawal, type Versions } from "../store/apps/withdrawals.ts";
import type { Database } from "../store/db/database.ts";
import { confirmedBlock } from "../store/db/meta.ts";
import { OperatorError } from "./operator-error.ts";

/** What a withdrawal works with. */
export interface WithdrawPlace {
  database: Database;
  client: ChainClient;
  chainId: bigint;
  keyring: Keyring;
  /** What the chain's coin is called. */
  coin: string;
  /** Highest price for a unit of gas, in wei. */
  maxFeePerGas: bigint;
  /** Asked before something is signed: what is sent, and what its gas may cost. */
  confirm: (what: string) => Promise<void>;
  /** Told why the nodes may not have accepted the transaction. */
  remark: (line: string) => void;
}

/** Gas of a transfer to an account without code. */
const TRANSFER_GAS = 21_000n;
/** Bytes like those of the transaction, for the fee that a rollup takes beside the gas. */
const SAMPLE = hexlify(randomBytes(128));
/** Milliseconds between two checks whether it is final. */
const POLL = 500;

/**
 * Sends all coins that the gas leaves from a wallet to an address, both in EIP-55 form. A recorded withdrawal is continued. All its
 * versions have one nonce, so the chain takes at most one of them.
 * @param wait milliseconds to wait for the final block.
 * @returns the version that a block contains, else the newest, and how the withdrawal ended. @throws OperatorError
 */
export async function withdraw(place: WithdrawPlace, wallet: string, to: string, wait: number) {
  const recorded = (await openWithdrawals(place.database.read, [wallet])).get(wallet);
  const { status, mined } = recorded === undefined ? { status: "open", mined: null } : await stateOf(place, recorded);
  const other = recorded === undefined || recorded[0].to === to ? null : recorded[0];
  if (other !== null && status === "open")
    throw new OperatorError(
      `The wallet has another withdrawal, which is not final: to ${other.to}, with transaction ${other.hash}. Nothing was signed. ` +
        `Run this with --to ${other.to} until that one is final.`,
    );
  // One to this receiver that has ended meanwhile is only reported.
  let versions = other !== null || status === "replaced" ? undefined : recorded;
  if (versions === undefined || mined === null) {
    versions = await signAndRecord(place, wallet, to, versions);
    // No error proves that no node took the bytes: nodes also refuse those that they know.
    await place.client.broadcast(versions[0].raw).catch((error: unknown) => {
      place.remark(`The nodes did not say that they accept the transaction: ${String(error)}`);
    });
  }
  const deadline = performance.now() + wait;
  let state = await stateOf(place, versions);
  while (state.status === "open" && performance.now() < deadline) {
    await pause(POLL);
    state = await stateOf(place, versions);
  }
  return { ...(versions.find(({ hash }) => hash === state.mined) ?? versions[0]), status: state.status };
}

/** What the chain says. How the withdrawal ended is stored. */
async function stateOf({ client, database }: WithdrawPlace, versions: Versions): Promise<WithdrawalState> {
  const state = await withdrawalState(client, versions, await confirmedBlock(database.read));
  if (state.status !== "open") await database.write((trx) => endWithdrawal(trx, versions, state));
  return state;
}

/**
 * Signs a withdrawal, and records it before it is sent.
 * @param before its versions, which no block contains. If the newest can be mined, nothing is signed.
 * @returns its versions now. @throws OperatorError
 */
async function signAndRecord(place: WithdrawPlace, wallet: string, to: string, before?: Versions): Promise<Versions> {
  const { database, client, chainId, keyring, coin, maxFeePerGas: most } = place;
  const [stored] = await storedWallets(database.read, [wallet]);
  if (stored === undefined) throw new OperatorError(`${wallet} is not a wallet of this service, or it is watch-only.`);
  const signer = await keyring.signer(stored);
  if (to === wallet || to === ZeroAddress)
    throw new OperatorError("--to is the wallet itself, or the zero address, where nobody can use the coins.");

  const [balance, block, tip] = await Promise.all([client.balance(wallet), client.latestBlock(), client.priorityFee()]);
  const price = (block.baseFeePerGas ?? 0n) + tip;
  const l1Fee = await l1DataFee(client, SAMPLE);
  const newest = Transaction.from(before?.[0].raw);
  const [fee, priority] = [newest.maxFeePerGas ?? 0n, newest.maxPriorityFeePerGas ?? 0n];
  const isPaid = newest.value + newest.gasLimit * fee + l1Fee <= balance;
  if (before !== undefined && fee >= price && priority >= tip && isPaid) return before;

  const offered = { maxFeePerGas: offeredPrice(price - tip, tip, most), maxPriorityFeePerGas: tip };
  const previous = { maxFeePerGas: fee, maxPriorityFeePerGas: priority };
  const fees = before === undefined ? offered : replacementFees(previous, offered, most);
  if (fees === null || price > most)
    throw new OperatorError("Gas costs more than MAX_FEE_GWEI allows. Wait for lower fees, or raise MAX_FEE_GWEI.");
  const call = { from: wallet, to, data: "0x", value: toQuantity(balance / 2n) };
  const [gas] = await client.estimateNext([call], MAX_TRANSACTION_GAS);
  if (gas == null) throw new OperatorError(`The transaction would fail: ${to} refuses the coins. Nothing was signed.`);
  // A receiver with code may need more later.
  const gasLimit = gas <= TRANSFER_GAS ? TRANSFER_GAS : (gas * 5n) / 4n;
  const costs = gasLimit * fees.maxFeePerGas + 2n * l1Fee;
  const value = balance - costs;
  if (value <= 0n)
    throw new OperatorError(
      `The wallet has ${formatEther(balance)} ${coin}. The gas may cost up to ${formatEther(costs)} ${coin}, so nothing is left to ` +
        "send. Nothing was signed.",
    );
  await place.confirm(`${formatEther(value)} ${coin} from ${wallet} to ${to}, gas up to ${formatEther(costs)} ${coin}`);

  const [nonce = 0] = before === undefined ? await client.reachedNonces([wallet]) : [before[0].nonce];
  const transaction = Transaction.from({ type: 2, chainId, nonce, to, value, gasLimit, ...fees });
  transaction.signature = signDigest(signer.key, transaction.unsignedHash);
  const version = { wallet, to, value, nonce, hash: transaction.hash ?? "", raw: transaction.serialized };
  const busy = await database.write((trx) => recordWithdrawal(trx, version, before?.[0].hash, Date.now()));
  if (busy === null) return [version, ...(before ?? [])];
  throw new OperatorError(`${busy} of the wallet is being sent. Nothing was sent. Run this again when that is final.`);
}
