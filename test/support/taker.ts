import { newLeaseHolder } from "../../api/shared/lease-holder.ts";
import { LoneRuns } from "../../api/store/db/under-way.ts";

/** Who takes jobs: a process at which no other job runs. */
export function taker(holder = newLeaseHolder()) {
  return { holder, lone: new LoneRuns(), running: 0 };
}
