import { type Authorization, hashAuthorization, type SigningKey, Transaction } from "ethers";

import { type OwnTransaction, refuseGasLimit, signTransaction } from "../chain/sign-transaction.ts";
import { signDigest } from "../shared/crypto.ts";
import type { SignedAttempt } from "../store/sending/batches.ts";

export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** A wallet's authorization to run the delegate's code from now on (EIP-7702), for one chain and never for all. */
export function signAuthorization(
  key: SigningKey,
  authorization: { chainId: bigint; address: string; nonce: number },
): Authorization {
  const fields = { ...authorization, nonce: BigInt(authorization.nonce) };
  return { ...fields, signature: signDigest(key, hashAuthorization(fields)) };
}

/** The transaction of a batch. */
export function signBatch(
  key: SigningKey,
  { fees, ...transaction }: Omit<OwnTransaction, keyof Fees> & { fees: Fees },
): SignedAttempt {
  const signed = signTransaction(key, { ...transaction, ...fees });
  return { ...signed, ...fees, gasLimit: transaction.gasLimit };
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
