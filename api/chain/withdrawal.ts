import type { WithdrawalOutcome } from "../domain/withdrawal.ts";
import type { ChainClient } from "./client.ts";
import { RpcError } from "./errors.ts";

/**
 * How a transaction of a wallet ended.
 * @param finalBlock blocks up to this one are final. @returns null while it is not final. @throws ChainUnavailable
 */
export function withdrawalOutcome(
  client: ChainClient,
  { wallet, nonce, hash }: { wallet: string; nonce: number; hash: string },
  finalBlock: number,
): Promise<WithdrawalOutcome | null> {
  return client.nodes.session(async () => {
    const [receipt] = await client.receipts([hash]);
    if (receipt != null) {
      if (receipt.blockNumber > finalBlock) return null;
      return receipt.status === 1 ? "sent" : "failed";
    }
    if (finalBlock < 0 || !(await hasUsed(client, wallet, nonce, finalBlock))) return null;
    // The node may have learnt of the block since.
    const [late] = await client.receipts([hash]);
    return late == null ? "replaced" : null;
  });
}

/** A node may not have the state of a block that is old, because the indexer is behind: then nothing is known. */
async function hasUsed(client: ChainClient, wallet: string, nonce: number, block: number): Promise<boolean> {
  try {
    const [used = 0] = await client.nonces([wallet], block);
    return used > nonce;
  } catch (error) {
    if (error instanceof RpcError) return false;
    throw error;
  }
}
