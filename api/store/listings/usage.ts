import type { DayUsage } from "../../domain/usage.ts";
import { counterKeys, readCounters, USAGE_FIGURES, type UsageFigure } from "../db/counters.ts";
import type { Db } from "../db/engine.ts";

/** One gwei, in wei. */
const GWEI = 1_000_000_000n;

/** What an app used on each day from `from` to `to` (days since 1970, UTC), in one statement. */
export async function readUsage(
  db: Db,
  appId: string,
  { from, to }: { from: number; to: number },
): Promise<DayUsage[]> {
  const days = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const keys = days.flatMap((day) => USAGE_FIGURES.map((figure) => counterKeys.usage(appId, day, figure)));
  const counters = await readCounters(db, keys);
  return days.map((day) => {
    const of = (figure: UsageFigure) => counters.get(counterKeys.usage(appId, day, figure)) ?? 0;
    return {
      day,
      accepted: of("accepted"),
      completed: of("completed"),
      failed: of("failed"),
      gas: of("gas"),
      feeWei: BigInt(of("fee_gwei")) * GWEI + BigInt(of("fee_rest")),
      mediaBytes: of("media_bytes"),
      wallets: of("wallets"),
    };
  });
}
