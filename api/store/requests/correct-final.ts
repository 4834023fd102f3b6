import { isFinal } from "../../domain/request.ts";
import type { Trx } from "../db/sql.ts";
import { enqueueEvents } from "../outbox/events.ts";
import { type SettledRequest, toRequest } from "./stored-request.ts";

/**
 * Handles a final request whose call ran again, because a reorg deeper than CONFIRMATIONS dropped its block. The status
 * stays. The app gets a `corrected` event if the token has another id now, the effect is gone, or a failed call succeeded.
 */
export async function correctFinal(
  trx: Trx,
  { request, outcome }: SettledRequest,
  where: { transactionHash: string; blockNumber: number },
  now: number,
): Promise<void> {
  const row = await trx.selectFrom("requests").selectAll().where("id", "=", request.id).executeTakeFirst();
  if (row === undefined || !isFinal(row.status)) return;
  const current = toRequest(row);
  const made = outcome.ok
    ? {
        nft_collection: outcome.collection ?? current.nft_collection,
        nft_token_id: outcome.tokenId ?? current.nft_token_id,
      }
    : { nft_collection: current.nft_collection, nft_token_id: current.nft_token_id };
  const same =
    current.status === "completed" &&
    outcome.ok &&
    made.nft_collection === current.nft_collection &&
    made.nft_token_id === current.nft_token_id;
  const moved = { ...made, transaction_hash: where.transactionHash, block_number: where.blockNumber };
  await trx
    .updateTable("requests")
    .set({ ...moved, updated_at: now })
    .where("id", "=", row.id)
    .execute();
  // It failed before and fails again: nothing that the app was told has changed.
  if (same || (current.status === "failed" && !outcome.ok)) return;
  const errorCode = outcome.ok ? undefined : outcome.errorCode;
  await enqueueEvents(trx, [{ request: { ...current, ...moved }, type: "corrected", errorCode }], now);
}
