import type { ChainOutcome } from "../domain/outcome.ts";
import type { Trx } from "./engine.ts";
import { enqueueEvent } from "./events.ts";
import { commandOf } from "./request-state.ts";
import type { RequestRow } from "./schema.ts";

/**
 * A call of a completed request runs again, because the chain dropped a block that was deep enough to be final. Its
 * status stays. What it made may have another id now, or its effect may be gone: then the app is told.
 */
export async function correctFinal(
  trx: Trx,
  row: RequestRow,
  outcome: ChainOutcome,
  where: { transactionHash: string; blockNumber: number },
  now: number,
): Promise<void> {
  const current = await trx.selectFrom("requests").selectAll().where("id", "=", row.id).executeTakeFirst();
  if (current?.status !== "completed") return;
  const made = outcome.ok
    ? {
        nft_collection: outcome.collection ?? current.nft_collection,
        nft_token_id: outcome.tokenId ?? current.nft_token_id,
      }
    : { nft_collection: current.nft_collection, nft_token_id: current.nft_token_id };
  const same =
    outcome.ok && made.nft_collection === current.nft_collection && made.nft_token_id === current.nft_token_id;
  const moved = { ...made, transaction_hash: where.transactionHash, block_number: where.blockNumber };
  await trx
    .updateTable("requests")
    .set({ ...moved, updated_at: now })
    .where("id", "=", row.id)
    .execute();
  if (same) return;
  const subject = { ...current, ...moved, command: commandOf(current) };
  await enqueueEvent(trx, subject, "corrected", now, outcome.ok ? undefined : outcome.errorCode);
}
