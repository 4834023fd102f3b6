import { type Authorization, keccak256, type SigningKey } from "ethers";

import { MAX_TRANSACTION_GAS } from "../domain/gas-measurement.ts";
import { signDigest } from "../shared/crypto.ts";

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

const EMPTY = Buffer.alloc(0);

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

/** A string of RLP. */
function item(content: Buffer): Buffer {
  const [first] = content;
  if (content.length === 1 && first !== undefined && first < 0x80) return content;
  return Buffer.concat([prefix(content.length, 0x80), content]);
}

/** A list of RLP. */
function list(items: readonly Buffer[]): Buffer {
  const content = Buffer.concat(items);
  return Buffer.concat([prefix(content.length, 0xc0), content]);
}

function prefix(length: number, base: number): Buffer {
  if (length < 56) return Buffer.of(base + length);
  const size = quantity(BigInt(length));
  return Buffer.concat([Buffer.of(base + 55 + size.length), size]);
}

/** A number as RLP wants it: without leading zeros, and 0 as no bytes at all. */
function quantity(value: bigint): Buffer {
  if (value < 0n) throw new RangeError(`a transaction cannot contain the negative number ${value.toString()}`);
  if (value === 0n) return EMPTY;
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
}

function bytes(hex: string): Buffer {
  const content = Buffer.from(hex.slice(2), "hex");
  if (!hex.startsWith("0x") || content.length * 2 + 2 !== hex.length)
    throw new TypeError("the transaction contains bytes that are not valid hex");
  return content;
}
