import { Signature, toBeHex, Transaction } from "ethers";
import { z } from "zod";

import { ChainUnavailable } from "./errors.ts";
import { address, hex, quantity, small } from "./json-rpc-values.ts";

/** Some nodes still call the parity `v`. */
const signature = { yParity: small.optional(), v: small.optional(), r: quantity, s: quantity };
const transaction = z.object({
  type: small,
  chainId: quantity,
  nonce: small,
  to: address.nullable(),
  gas: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  value: quantity,
  input: hex,
  accessList: z.array(z.object({ address: hex, storageKeys: z.array(hex) })).default([]),
  authorizationList: z.array(z.object({ chainId: quantity, address, nonce: small, ...signature })).nullish(),
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
