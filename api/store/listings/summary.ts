import { REQUEST_TYPES } from "../../domain/request.ts";
import { counterKeys, readCounters } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";

interface DaySummary {
  accepted: number;
  completed: number;
  failed: number;
  minted: number;
}

interface Summary {
  today: DaySummary;
  yesterday: DaySummary;
  /** Requests that are not final. */
  waiting: number;
  collections: number;
  wallets: number;
}

const FIGURES = ["accepted", "completed", "failed", "minted"] as const;

/** What an app did in two days and has now: some tens of counters, whatever the number of requests is. @param today days since 1970 */
export async function readSummary(db: Db, app: string, today: number): Promise<Summary> {
  const waiting = (["pending", "processing"] as const).flatMap((status) =>
    REQUEST_TYPES.map((type) => counterKeys.requests(app, status, type)),
  );
  const days = [today, today - 1].flatMap((day) => FIGURES.map((figure) => counterKeys.usage(app, day, figure)));
  const [collections, wallets] = [counterKeys.collections(app), counterKeys.wallets(app)];
  const counters = await readCounters(db, [...waiting, ...days, collections, wallets]);
  const of = (key: string) => counters.get(key) ?? 0;
  const summaryOf = (day: number) =>
    Object.fromEntries(
      FIGURES.map((figure) => [figure, of(counterKeys.usage(app, day, figure))]),
    ) as unknown as DaySummary;
  return {
    today: summaryOf(today),
    yesterday: summaryOf(today - 1),
    waiting: waiting.reduce((sum, key) => sum + of(key), 0),
    collections: of(collections),
    wallets: of(wallets),
  };
}
