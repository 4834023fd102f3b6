import { type Authorization, hashAuthorization, Signature, type SigningKey, Transaction } from "ethers";

import type { SignedAttempt } from "../store/sending/batches.ts";

export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** A wallet's consent to run the delegate's code from now on (EIP-7702); always for one chain, never for all. */
export function signAuthorization(
  key: SigningKey,
  authorization: { chainId: bigint; address: string; nonce: number },
): Authorization {
  const fields = { ...authorization, nonce: BigInt(authorization.nonce) };
  return { ...fields, signature: Signature.from(key.sign(hashAuthorization(fields))) };
}

/** The batch's transaction: type 4 when wallets delegate in it, else type 2 (EIP-1559). */
export function signBatch(
  key: SigningKey,
  transaction: {
    chainId: bigint;
    nonce: number;
    to: string;
    data: string;
    gasLimit: bigint;
    fees: Fees;
    authorizations: Authorization[];
  },
): SignedAttempt {
  const unsigned = Transaction.from({
    type: transaction.authorizations.length > 0 ? 4 : 2,
    chainId: transaction.chainId,
    nonce: transaction.nonce,
    to: transaction.to,
    data: transaction.data,
    gasLimit: transaction.gasLimit,
    ...transaction.fees,
    ...(transaction.authorizations.length > 0 ? { authorizationList: transaction.authorizations } : {}),
  });
  return signed(unsigned, key);
}

/** The same transaction with other fees: same nonce, so only one of the two can ever be mined. */
export function signReplacement(key: SigningKey, raw: string, fees: Fees): SignedAttempt {
  const replacement = Transaction.from(raw).clone();
  replacement.signature = null;
  replacement.maxFeePerGas = fees.maxFeePerGas;
  replacement.maxPriorityFeePerGas = fees.maxPriorityFeePerGas;
  return signed(replacement, key);
}

/** Does nothing but use the nonce of another version: the account pays itself nothing. */
export function signEmpty(key: SigningKey, account: string, raw: string, fees: Fees): SignedAttempt {
  const { chainId, nonce } = Transaction.from(raw);
  return signed(Transaction.from({ type: 2, chainId, nonce, to: account, gasLimit: 21_000n, ...fees }), key);
}

function signed(transaction: Transaction, key: SigningKey): SignedAttempt {
  transaction.signature = key.sign(transaction.unsignedHash);
  if (transaction.hash === null) throw new Error("a signed transaction has a hash");
  return {
    hash: transaction.hash,
    raw: transaction.serialized,
    maxFeePerGas: transaction.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? 0n,
    gasLimit: transaction.gasLimit,
  };
}
