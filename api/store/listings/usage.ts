import type { DayUsage } from "../../domain/usage.ts";
import { GWEI } from "../../domain/wei.ts";
import { counterKeys, readCounters, USAGE_FIGURES, type UsageFigure } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";

/** What an app used on each day from `from` to `to` (days since 1970, UTC), in one statement. */
export async function readUsage(db: Db, appId: string, range: { from: number; to: number }): Promise<DayUsage[]> {
  return (await readUsageOfApps(db, [appId], range)).get(appId) ?? [];
}

/** The same for several apps, also in one statement. */
export async function readUsageOfApps(
  db: Db,
  appIds: readonly string[],
  { from, to }: { from: number; to: number },
): Promise<Map<string, DayUsage[]>> {
  const days = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const keys = appIds.flatMap((app) =>
    days.flatMap((day) => USAGE_FIGURES.map((figure) => counterKeys.usage(app, day, figure))),
  );
  const counters = await readCounters(db, keys);
  return new Map(appIds.map((app) => [app, days.map((day) => usageOf(counters, app, day))]));
}

function usageOf(counters: ReadonlyMap<string, number>, app: string, day: number): DayUsage {
  const of = (figure: UsageFigure) => counters.get(counterKeys.usage(app, day, figure)) ?? 0;
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
}
