import { type Authorization, keccak256, Signature, type SigningKey, toBeHex, Transaction } from "ethers";
import { z } from "zod";

import { MAX_TRANSACTION_GAS } from "../domain/gas-estimate.ts";
import { signDigest } from "../shared/crypto.ts";
import { ChainUnavailable } from "./errors.ts";
import { bytes, EMPTY, item, list, quantity } from "./rlp.ts";
import { address, hash, hex, hexQuantity, small } from "./values.ts";

/** What the service sends: no value, no access list. */
export interface OwnTransaction {
  chainId: bigint;
  nonce: number;
  to: string;
  data: string;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** Wallets that delegate (EIP-7702). With any, the transaction has type 4, else type 2 (EIP-1559). */
  authorizations: readonly Authorization[];
}

/**
 * Signs and serializes a transaction. The serializer of ethers encodes a transaction four times on this way, which takes
 * milliseconds for a large batch.
 * @throws RangeError when a number is negative or the fees or the gas limit are not possible; TypeError when bytes are not hex.
 */
export function signTransaction(key: SigningKey, transaction: OwnTransaction): { hash: string; raw: string } {
  const { authorizations } = transaction;
  if (transaction.maxPriorityFeePerGas > transaction.maxFeePerGas)
    throw new RangeError("maxPriorityFeePerGas is higher than maxFeePerGas: no node accepts such a transaction");
  refuseGasLimit(transaction.gasLimit);
  const type = Buffer.of(authorizations.length > 0 ? 4 : 2);
  const fields = Buffer.concat([
    item(quantity(transaction.chainId)),
    item(quantity(BigInt(transaction.nonce))),
    item(quantity(transaction.maxPriorityFeePerGas)),
    item(quantity(transaction.maxFeePerGas)),
    item(quantity(transaction.gasLimit)),
    item(bytes(transaction.to)),
    item(EMPTY),
    item(bytes(transaction.data)),
    list([]),
    ...(authorizations.length > 0 ? [list(authorizations.map(authorizationItem))] : []),
  ]);
  const { r, s, yParity } = signDigest(key, keccak256(Buffer.concat([type, list([fields])])));
  const signature = [item(quantity(BigInt(yParity))), item(quantity(BigInt(r))), item(quantity(BigInt(s)))];
  const raw = Buffer.concat([type, list([fields, ...signature])]);
  return { hash: keccak256(raw), raw: `0x${raw.toString("hex")}` };
}

/** @throws RangeError above the gas limit of EIP-7825: no block would contain the transaction, and its nonce would stay open. */
export function refuseGasLimit(gasLimit: bigint): void {
  if (gasLimit > BigInt(MAX_TRANSACTION_GAS))
    throw new RangeError(`a transaction can have ${MAX_TRANSACTION_GAS} gas, not ${gasLimit.toString()}`);
}

function authorizationItem({ chainId, address, nonce, signature }: Authorization): Buffer {
  return list([
    item(quantity(chainId)),
    item(bytes(address)),
    item(quantity(nonce)),
    item(quantity(BigInt(signature.yParity))),
    item(quantity(BigInt(signature.r))),
    item(quantity(BigInt(signature.s))),
  ]);
}

/** Some nodes still call the parity `v`. */
const signature = { yParity: small.optional(), v: small.optional(), r: hexQuantity, s: hexQuantity };
const transaction = z.object({
  type: small,
  chainId: hexQuantity,
  nonce: small,
  to: address.nullable(),
  gas: hexQuantity,
  maxFeePerGas: hexQuantity,
  maxPriorityFeePerGas: hexQuantity,
  value: hexQuantity,
  input: hex,
  accessList: z.array(z.object({ address: hex, storageKeys: z.array(hex) })).default([]),
  authorizationList: z.array(z.object({ chainId: hexQuantity, address, nonce: small, ...signature })).nullish(),
  ...signature,
});
/** What the service signs: EIP-1559, and EIP-7702 where wallets delegate. */
const OWN_TYPES = new Set([2, 4]);

/**
 * Rebuilds a signed transaction from a node's answer. Null: the node does not have it. Undefined: it has a type that the
 * service never sends.
 * @throws ChainUnavailable when the rebuilt bytes do not have the requested hash.
 */
export function readTransaction(answer: unknown, hash: string | undefined): Transaction | null | undefined {
  const kind = z.object({ type: small }).nullish().safeParse(answer);
  if (kind.success && kind.data == null) return null;
  if (kind.success && kind.data != null && !OWN_TYPES.has(kind.data.type)) return undefined;
  const fields = transaction.safeParse(answer);
  if (!fields.success)
    throw new ChainUnavailable("the node's transaction is not valid by the Ethereum JSON-RPC specification");
  return signedTransaction(fields.data, hash);
}

/** Rebuilds the signed bytes from their fields, and verifies the result by its hash. */
function signedTransaction(fields: z.infer<typeof transaction>, hash: string | undefined): Transaction {
  const signatureOf = (of: { yParity?: number | undefined; v?: number | undefined; r: bigint; s: bigint }) =>
    Signature.from({ yParity: (of.yParity ?? of.v) === 0 ? 0 : 1, r: toBeHex(of.r, 32), s: toBeHex(of.s, 32) });
  const { gas: gasLimit, input: data, authorizationList, yParity: _yParity, v: _v, r: _r, s: _s, ...plain } = fields;
  const signed = Transaction.from({
    ...plain,
    gasLimit,
    data,
    ...(authorizationList == null
      ? {}
      : {
          authorizationList: authorizationList.map((one) => {
            const { address: delegate, chainId, nonce } = one;
            return { address: delegate, chainId, nonce: BigInt(nonce), signature: signatureOf(one) };
          }),
        }),
    signature: signatureOf(fields),
  });
  if (signed.hash !== hash) throw new ChainUnavailable("the node's transaction does not have the requested hash");
  return signed;
}

/** The call of a signed transaction. */
export function dataOf(raw: string): string {
  return Transaction.from(raw).data;
}

/** Whether a signed transaction only uses up its nonce: the account sends itself nothing. */
export function isEmpty(raw: string): boolean {
  const { from, to, data } = Transaction.from(raw);
  return from !== null && from === to && data === "0x";
}

/** The receipt of a mined transaction. */
export const receipt = z
  .object({
    blockNumber: small,
    blockHash: hash,
    status: small,
    gasUsed: hexQuantity,
    /** Some nodes of old software leave it out. */
    effectiveGasPrice: hexQuantity.nullish(),
    /** Rollups of the OP Stack charge the data of a transaction in addition. */
    l1Fee: hexQuantity.nullish(),
  })
  .transform(({ effectiveGasPrice: price, l1Fee, ...fields }) => ({
    ...fields,
    /** What the transaction paid, in wei; null: the node does not tell. */
    feeWei: price == null ? null : fields.gasUsed * price + (l1Fee ?? 0n),
  }));

export type Receipt = z.infer<typeof receipt>;
