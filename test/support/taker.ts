import { newLeaseHolder } from "../../api/shared/lease-holder.ts";
import type { Trx } from "../../api/store/db/sql.ts";
import { LoneRuns } from "../../api/store/db/under-way.ts";
import { closeAbandoned } from "../../api/store/outbox/abandoned-deliveries.ts";
import { dueDeliveries, leaseDeliveries } from "../../api/store/outbox/due-deliveries.ts";

/** Who takes jobs: a process at which no other job runs. */
export function taker(holder = newLeaseHolder()) {
  return { holder, loneRuns: new LoneRuns(), running: 0 };
}

interface Lease extends ReturnType<typeof taker> {
  now: number;
  leaseUntil: number;
}

/** One step of the dispatcher: ends a chunk of what was abandoned, and takes what is due. */
export async function takeDueDeliveries(trx: Trx, options: Lease) {
  await closeAbandoned(trx, options.now);
  const due = await dueDeliveries(trx, options.now, []);
  const { leased, parked, someMustRunAlone } = await leaseDeliveries(trx, due, options);
  return { taken: leased, parked, someMustRunAlone };
}
