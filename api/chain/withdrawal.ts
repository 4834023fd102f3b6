import type { WithdrawalOutcome } from "../domain/withdrawal.ts";
import type { ChainClient } from "./client.ts";

/**
 * How a transaction of a wallet ended.
 * @param finalBlock blocks up to this one are final. @returns null while it is not final. @throws ChainUnavailable
 */
export function withdrawalOutcome(
  client: ChainClient,
  { wallet, nonce, hash }: { wallet: string; nonce: number; hash: string },
  finalBlock: number,
): Promise<WithdrawalOutcome | null> {
  if (finalBlock < 0) return Promise.resolve(null);
  return client.nodes.session(async () => {
    // Before the receipt: then a node that has used the nonce also has the receipt.
    const [used = 0] = await client.nonces([wallet], finalBlock);
    const [receipt] = await client.receipts([hash]);
    if (used <= nonce) return null;
    if (receipt == null) return "replaced";
    return receipt.status === 1 ? "sent" : "failed";
  });
}
