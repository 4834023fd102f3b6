import type { ChainClient } from "./client.ts";

/** What the chain says of a withdrawal. */
export interface WithdrawalState {
  /** `open` until a final block has a version, which moved the coins or `failed`, or another transaction with its nonce. */
  status: "open" | "sent" | "failed" | "replaced";
  /** The hash of the version that a block contains, which may not be final; null: none. */
  mined: string | null;
}

interface Version {
  wallet: string;
  nonce: number;
  hash: string;
}

/**
 * How a withdrawal ended.
 * @param versions all that were signed, with one nonce: any of them may be mined.
 * @param finalBlock blocks up to this one are final; -1: none is. @throws ChainUnavailable
 */
export function withdrawalState(
  client: ChainClient,
  versions: readonly [Version, ...Version[]],
  finalBlock: number,
): Promise<WithdrawalState> {
  return client.nodes.session(async () => {
    const [{ wallet, nonce }] = versions;
    // Before the receipts, because a node may learn of a block meanwhile. One without the state of an old block does not know.
    const [used = 0] = await client.nonces([wallet], Math.max(0, finalBlock)).catch(() => []);
    const receipts = await client.receipts(versions.map(({ hash }) => hash));
    const at = receipts.findIndex((receipt) => receipt !== null);
    const [receipt, mined = null] = [receipts[at], versions[at]?.hash];
    if (receipt == null) return { status: used > nonce ? "replaced" : "open", mined };
    const end = receipt.status === 1 ? "sent" : "failed";
    return { status: receipt.blockNumber <= finalBlock ? end : "open", mined };
  });
}
