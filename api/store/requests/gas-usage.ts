import { estimateGas, shareGas } from "../../domain/gas-estimate.ts";
import type { Trx } from "../db/engine.ts";
import type { StoredRequest } from "./stored-request.ts";

/*
 * Gas that an app's requests use in a day (UTC), where that is limited. A request is charged an estimate when it is
 * accepted, in its own transaction; its share of the gas that its transaction really used takes the estimate's place when
 * the block is seen. Whatever comes later is charged to the day of the acceptance.
 */

const DAY = 86_400_000;

/** What a request is charged, as its row remembers it. */
export interface GasCharge {
  day: number;
  gas: number;
}

/** Seconds until the next day begins (UTC). */
export function secondsOfDayLeft(now: number): number {
  return Math.ceil((DAY - (now % DAY)) / 1_000);
}

/** Charges gas to the app's day in one conditional update. @returns null when the day's budget does not hold that much. */
export async function chargeGas(
  trx: Trx,
  appId: string,
  charge: { gas: number; budget: number; now: number },
): Promise<GasCharge | null> {
  const day = Math.floor(charge.now / DAY);
  await trx
    .insertInto("gas_usage")
    .values({ app_id: appId, day, used: 0 })
    .onConflict((conflict) => conflict.columns(["app_id", "day"]).doNothing())
    .execute();
  const updated = await trx
    .updateTable("gas_usage")
    .set((eb) => ({ used: eb("used", "+", charge.gas) }))
    .where("app_id", "=", appId)
    .where("day", "=", day)
    .where((eb) => eb(eb("used", "+", charge.gas), "<=", charge.budget))
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n ? { day, gas: charge.gas } : null;
}

type Charged = Pick<StoredRequest, "id" | "app_id" | "command" | "gas_day" | "gas_charged">;

function estimateOf(request: Charged): number {
  return estimateGas(request.command);
}

/** Puts the shares of what a transaction used in the place of what its requests were charged so far. */
export async function settleGas(trx: Trx, requests: readonly Charged[], used: number): Promise<void> {
  const shares = shareGas(used, requests.map(estimateOf));
  const changes = new UsageChanges();
  for (const [index, request] of requests.entries()) {
    const share = shares[index] ?? 0;
    // Read anew: a reorg may have had it settled before.
    const row = await trx
      .selectFrom("requests")
      .select(["gas_day", "gas_charged"])
      .where("id", "=", request.id)
      .executeTakeFirst();
    if (row?.gas_charged == null || row.gas_day === null) continue;
    await trx.updateTable("requests").set({ gas_charged: share }).where("id", "=", request.id).execute();
    changes.add(request.app_id, row.gas_day, share - row.gas_charged);
  }
  await changes.store(trx);
}

/** Charges a transaction that reverted whole, on top: its requests are yet to be sent in another. */
export async function chargeReverted(trx: Trx, requests: readonly Charged[], used: number): Promise<void> {
  const shares = shareGas(used, requests.map(estimateOf));
  const changes = new UsageChanges();
  for (const [index, request] of requests.entries()) {
    if (request.gas_day !== null) changes.add(request.app_id, request.gas_day, shares[index] ?? 0);
  }
  await changes.store(trx);
}

/** Gives back what a request was charged that will never be sent. */
export async function refundGas(trx: Trx, request: Charged): Promise<void> {
  if (request.gas_day === null || request.gas_charged === null) return;
  await trx.updateTable("requests").set({ gas_charged: 0 }).where("id", "=", request.id).execute();
  const changes = new UsageChanges();
  changes.add(request.app_id, request.gas_day, -request.gas_charged);
  await changes.store(trx);
}

/** Collects changes by app and day, and stores them in one order, so that two writers never wait in a circle. */
class UsageChanges {
  readonly #changes = new Map<string, { appId: string; day: number; gas: number }>();

  add(appId: string, day: number, gas: number): void {
    const key = `${appId}/${day.toString()}`;
    const change = this.#changes.get(key) ?? { appId, day, gas: 0 };
    this.#changes.set(key, { ...change, gas: change.gas + gas });
  }

  async store(trx: Trx): Promise<void> {
    for (const key of [...this.#changes.keys()].sort()) {
      const change = this.#changes.get(key);
      if (change === undefined || change.gas === 0) continue;
      await trx
        .updateTable("gas_usage")
        .set((eb) => ({ used: eb("used", "+", change.gas) }))
        .where("app_id", "=", change.appId)
        .where("day", "=", change.day)
        .execute();
    }
  }
}
