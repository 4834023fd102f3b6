import { GWEI, latencyRange, slotOf } from "../../domain/series.ts";
import { type CounterDeltas, counterKeys } from "../db/counters.ts";

interface FinalRequest {
  created_at: number;
  fee_wei: string | null;
}

/** Counts a request that became final, for the operator's charts. */
export function countFinal(
  counters: CounterDeltas,
  request: FinalRequest,
  to: "completed" | "failed",
  now: number,
): void {
  const add = (figure: string, delta: number) => {
    counters.add(counterKeys.series(slotOf(now), figure), delta);
  };
  add(to, 1);
  add(`latency-${latencyRange(now - request.created_at).toString()}`, 1);
  if (request.fee_wei === null) return;
  const fee = BigInt(request.fee_wei);
  add("fee_gwei", Number(fee / GWEI));
  add("fee_rest", Number(fee % GWEI));
}
