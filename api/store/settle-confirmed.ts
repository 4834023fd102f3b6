import { addToCounter, counterKeys } from "./counters.ts";
import type { Trx } from "./engine.ts";
import { outcomeOf, settle } from "./request-state.ts";

/** Makes final what is deep enough: statuses with their events, and collections in the listings. */
export async function settleConfirmed(trx: Trx, confirmed: number, now: number): Promise<void> {
  const due = await trx
    .selectFrom("requests")
    .selectAll()
    .where("outcome", "is not", null)
    .where("block_number", "<=", confirmed)
    .orderBy("block_number")
    .orderBy("seq")
    .execute();
  for (const request of due) {
    const outcome = outcomeOf(request);
    if (outcome !== null) await settle(trx, request, outcome, now);
  }
  const listed = await trx
    .updateTable("collections")
    .set({ listed: 1 })
    .where("listed", "=", 0)
    .where("block_number", "<=", confirmed)
    .returning("app_id")
    .execute();
  for (const { app_id: app } of listed) await addToCounter(trx, counterKeys.collections(app), 1);
}
