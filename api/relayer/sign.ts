import { type Authorization, hashAuthorization, type SigningKey, Transaction } from "ethers";

import { delegatesOf, walletsToDelegate } from "../chain/reads.ts";
import { refuseGasLimit, signTransaction } from "../chain/transaction.ts";
import type { Fees } from "../domain/wei.ts";
import type { Keyring, WalletSigner } from "../keys/keyring.ts";
import { signDigest } from "../shared/crypto.ts";
import { Slices } from "../shared/in-slices.ts";
import { storedWallets } from "../store/apps/imported-keys.ts";
import { delegatedAmong } from "../store/apps/wallets.ts";
import { noncesAfterWithdrawals } from "../store/apps/withdrawals.ts";
import { DatabaseError } from "../store/db/errors.ts";
import type { Db } from "../store/db/sql.ts";
import type { SignedAttempt } from "../store/sending/batches.ts";
import { readLane } from "../store/sending/lanes.ts";
import type { RelayerContext } from "./context.ts";

export type WalletSigners = Map<string, WalletSigner>;

/** Keys of the service's wallets among the addresses. @throws Error when a key is not the wallet's, or cannot be had. */
export async function walletSigners(read: Db, keyring: Keyring, addresses: string[]): Promise<WalletSigners> {
  const signers: WalletSigners = new Map();
  const slices = new Slices();
  for (const wallet of await storedWallets(read, addresses)) {
    await slices.next();
    signers.set(wallet.address, await keyring.signer(wallet));
  }
  return signers;
}

/** A signed authorization (EIP-7702). */
export interface Delegation {
  authorization: Authorization;
  /** Whether the wallet's nonce is the word of one node, and not that after the last withdrawal, which for nearly all wallets is 0. */
  doubtful: boolean;
}

/** Why a wallet's authorization cannot be signed now. */
export type NotSigned = "nodes disagree" | "delegated elsewhere";

/**
 * Authorizations, by address, of the wallets that need one. With a wrong nonce, the chain would ignore the authorization, and the
 * wallet's call would fail.
 */
export async function signDelegations(
  { client, chainId, contracts: { delegate }, database }: RelayerContext,
  wallets: WalletSigners,
  addresses: string[],
): Promise<Map<string, Delegation | NotSigned>> {
  const signed = new Map<string, Delegation | NotSigned>();
  if (addresses.length === 0) return signed;
  const certain = await delegatedAmong(database.read, addresses);
  // Who else has the key of an imported wallet may change its delegation and nonce at any time.
  const imported = await delegatesOf(
    client,
    addresses.filter((address) => wallets.get(address)?.imported != null),
  );
  const undelegated = await walletsToDelegate(client, addresses, delegate);
  for (const [address, codes] of imported) {
    const isSure = certain.has(address) && codes.every((one) => one === delegate);
    if (!isSure && !undelegated.includes(address)) undelegated.push(address);
  }
  const known = await noncesAfterWithdrawals(database.read, addresses);
  const answers = await client.nodes.each(() => client.nonces(undelegated));
  const slices = new Slices();
  for (const address of addresses) {
    await slices.next();
    const wallet = wallets.get(address);
    const index = undelegated.indexOf(address);
    if (wallet === undefined || (index === -1 && certain.has(address))) continue;
    const others = imported.get(address)?.filter((one) => one !== null && one !== delegate) ?? [];
    if (wallet.imported?.replacesDelegation === false && others.length > 0) {
      signed.set(address, "delegated elsewhere");
      continue;
    }
    // The node says that the wallet has delegated, and no final block has shown it. If that is not true, the wallet has used a nonce
    // for each withdrawal only, and the authorization with the next one holds. If it is true, the chain ignores it, for little gas.
    const expected = known.get(address) ?? 0;
    const named = index === -1 ? [expected] : answers.flatMap((nonces) => nonces[index] ?? []);
    const nonce = named.length === 1 ? named[0] : named.find((one, at) => named.indexOf(one) !== at);
    if (nonce === undefined) {
      signed.set(address, "nodes disagree");
      continue;
    }
    // With the number of the chain: with 0 the authorization would hold on every chain.
    const fields = { chainId, address: delegate, nonce: BigInt(nonce) };
    const authorization = { ...fields, signature: signDigest(wallet.key, hashAuthorization(fields)) };
    signed.set(address, { authorization, doubtful: named.length === 1 && nonce !== expected });
  }
  return signed;
}

/** Signs the transaction of a batch, with the lane's next nonce. */
export async function signBatch(
  { database, keyring, chainId, contracts }: RelayerContext,
  lane: number,
  { data, gasLimit, delegations }: { data: string; gasLimit: bigint; delegations: readonly Authorization[] },
  fees: Fees,
): Promise<{ nonce: number; attempt: SignedAttempt }> {
  const row = await readLane(database.read, lane);
  if (row === undefined) throw new DatabaseError(`lane ${lane.toString()} has no row in the database`);
  const { next_nonce: nonce } = row;
  const transaction = { chainId, nonce, to: contracts.relay, data, gasLimit, ...fees, authorizations: delegations };
  return { nonce, attempt: { ...signTransaction(keyring.lane(lane).key, transaction), ...fees, gasLimit } };
}

/** The same calls with other fees, and possibly another gas limit. Both have the same nonce, so only one can be mined. */
export function signReplacement(key: SigningKey, raw: string, fees: Fees, gasLimit: bigint): SignedAttempt {
  const replacement = Transaction.from(raw).clone();
  replacement.signature = null;
  replacement.gasLimit = gasLimit;
  replacement.maxFeePerGas = fees.maxFeePerGas;
  replacement.maxPriorityFeePerGas = fees.maxPriorityFeePerGas;
  return signed(replacement, key);
}

/**
 * An empty transaction that uses up the nonce: the account sends itself nothing.
 * @param gas what such a transaction costs on the chain.
 */
export function signEmpty(key: SigningKey, account: string, raw: string, fees: Fees, gas: number): SignedAttempt {
  const { chainId, nonce } = Transaction.from(raw);
  return signed(Transaction.from({ type: 2, chainId, nonce, to: account, gasLimit: BigInt(gas), ...fees }), key);
}

/** @throws RangeError when its gas limit is above what a transaction can have. */
function signed(transaction: Transaction, key: SigningKey): SignedAttempt {
  refuseGasLimit(transaction.gasLimit);
  transaction.signature = signDigest(key, transaction.unsignedHash);
  if (transaction.hash === null) throw new Error("ethers gave a signed transaction without a hash");
  return {
    hash: transaction.hash,
    raw: transaction.serialized,
    maxFeePerGas: transaction.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? 0n,
    gasLimit: transaction.gasLimit,
  };
}
