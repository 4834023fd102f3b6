import { type RawBuilder, sql } from "kysely";

import { dayOf } from "../../domain/day.ts";
import { forUpdate, rowSet, type Trx } from "../db/sql.ts";

/*
 * Gas used by an app per day (UTC), if a daily budget is set. An accepted request is charged an estimate. Its shares of the gas
 * that its transactions used are added as they become known. The share of the transaction that runs the call replaces the
 * estimate (`gas-charges.ts`). All charges go to the day of acceptance.
 */

/** The gas that a request was charged, and the day. */
export interface GasCharge {
  day: number;
  gas: number;
}

interface Usage {
  app_id: string;
  used: number;
}

function setOf(trx: Trx, apps: ReadonlySet<string>): RawBuilder<unknown> {
  return rowSet(
    trx,
    { app_id: "text" },
    [...apps].map((app_id) => ({ app_id })),
  );
}

/** What the apps have used on a day. Nobody else changes it until the end of the transaction. */
async function lockUsage(trx: Trx, apps: ReadonlySet<string>, day: number): Promise<Usage[]> {
  const { rows } = await sql<Usage>`
    select app_id, used from gas_usage where day = ${day} and app_id in (select app_id from ${setOf(trx, apps)} as input)
     order by app_id ${forUpdate(trx)}`.execute(trx);
  return rows;
}

async function beginUsage(trx: Trx, apps: ReadonlySet<string>, day: number): Promise<void> {
  await sql`
    insert into gas_usage (app_id, day, used)
    select app_id, cast(${day} as bigint), 0 from ${setOf(trx, apps)} as input where true order by app_id
    on conflict (app_id, day) do nothing`.execute(trx);
}

/** The remaining gas budgets of the apps of a group of calls, for today. */
export class GasBudgets {
  readonly #budget: number;
  readonly #day: number;
  readonly #used = new Map<string, { before: number; charged: number }>();

  private constructor(budget: number, day: number) {
    this.#budget = budget;
    this.#day = day;
  }

  /** @param budget gas that each app may use in a day. */
  static async read(trx: Trx, apps: ReadonlySet<string>, budget: number, now: number): Promise<GasBudgets> {
    const budgets = new GasBudgets(budget, dayOf(now));
    let rows = await lockUsage(trx, apps, budgets.#day);
    if (rows.length < apps.size) {
      // The first calls of the day. Without a row there is nothing that another process would wait for.
      await beginUsage(trx, apps, budgets.#day);
      rows = await lockUsage(trx, apps, budgets.#day);
    }
    for (const app of apps) budgets.#used.set(app, { before: 0, charged: 0 });
    for (const { app_id, used } of rows) budgets.#used.set(app_id, { before: used, charged: 0 });
    return budgets;
  }

  /** @returns the charge; null when the rest of the day's budget is too small. */
  charge(appId: string, gas: number): GasCharge | null {
    const app = this.#used.get(appId);
    if (app === undefined || app.before + app.charged + gas > this.#budget) return null;
    app.charged += gas;
    return { day: this.#day, gas };
  }

  /** Refunds a charge, because the request is refused for another reason. */
  refund(appId: string, { gas }: GasCharge): void {
    const app = this.#used.get(appId);
    if (app !== undefined) app.charged -= gas;
  }

  async store(trx: Trx): Promise<void> {
    const rows = [...this.#used]
      .filter(([, { charged }]) => charged > 0)
      .map(([app_id, { charged }]) => ({ app_id, charged }));
    if (rows.length === 0) return;
    await sql`
      insert into gas_usage (app_id, day, used)
      select app_id, ${this.#day}, charged from ${rowSet(trx, { app_id: "text", charged: "integer" }, rows)} as input
       where true order by app_id
      on conflict (app_id, day) do update set used = gas_usage.used + excluded.used`.execute(trx);
  }
}
