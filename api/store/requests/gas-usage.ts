import { type RawBuilder, sql } from "kysely";

import { estimateGas, shareGas } from "../../domain/gas-estimate.ts";
import type { Trx } from "../db/engine.ts";
import { forUpdate } from "../db/row-locks.ts";
import { rowSet } from "../db/row-set.ts";
import type { StoredRequest } from "./stored-request.ts";

/*
 * Gas used by an app per day (UTC), if a daily budget is set. An accepted request is charged an estimate. When its block is
 * read, its share of the gas that the transaction used replaces the estimate. All charges go to the day of acceptance.
 */

const DAY = 86_400_000;

/** The gas that a request was charged, and the day. */
export interface GasCharge {
  day: number;
  gas: number;
}

/** Seconds until the next day begins (UTC). */
export function secondsOfDayLeft(now: number): number {
  return Math.ceil((DAY - (now % DAY)) / 1_000);
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
    const budgets = new GasBudgets(budget, Math.floor(now / DAY));
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

type Charged = Pick<StoredRequest, "id" | "app_id" | "command" | "gas_day" | "gas_charged">;

function estimateOf(request: Charged): number {
  return estimateGas(request.command);
}

/** Replaces the charges of a transaction's requests by their shares of the gas that it used. */
export async function settleGas(trx: Trx, requests: readonly Charged[], used: number): Promise<void> {
  if (requests.length === 0) return;
  const shares = shareGas(used, requests.map(estimateOf));
  const rows = requests.map(({ id }, index) => ({ id, share: shares[index] ?? 0 }));
  const shareOf = new Map(rows.map(({ id, share }) => [id, share]));
  // Read the current charges: before a reorg, the same requests may have been settled once already.
  const { rows: charged } = await sql<{ id: string; app_id: string; gas_day: number; gas_charged: number }>`
    select id, app_id, gas_day, gas_charged from requests
     where gas_day is not null and gas_charged is not null
       and id in (select id from ${rowSet(trx, { id: "text" }, rows)} as input) ${forUpdate(trx)}`.execute(trx);
  await charge(
    trx,
    charged.map((row) => ({ ...row, gas: shareOf.get(row.id) ?? 0 })),
  );
}

/** Replaces the charges of requests, and updates the usage of their days. */
async function charge(
  trx: Trx,
  requests: readonly { id: string; app_id: string; gas_day: number; gas_charged: number; gas: number }[],
): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map(({ id, gas }) => ({ id, gas }));
  await sql`
    update requests set gas_charged = input.gas
      from ${rowSet(trx, { id: "text", gas: "integer" }, rows)} as input where requests.id = input.id`.execute(trx);
  const changes = new UsageChanges();
  for (const { app_id, gas_day, gas_charged, gas } of requests) changes.add(app_id, gas_day, gas - gas_charged);
  await changes.store(trx);
}

/** Adds the gas of a transaction that reverted as a whole. Its requests will be charged again for the next one. */
export async function chargeReverted(trx: Trx, requests: readonly Charged[], used: number): Promise<void> {
  const shares = shareGas(used, requests.map(estimateOf));
  const changes = new UsageChanges();
  for (const [index, request] of requests.entries()) {
    if (request.gas_day !== null) changes.add(request.app_id, request.gas_day, shares[index] ?? 0);
  }
  await changes.store(trx);
}

/** Refunds requests that will never be sent. */
export async function refundGas(trx: Trx, requests: readonly Charged[]): Promise<void> {
  await charge(
    trx,
    requests.flatMap(({ id, app_id, gas_day, gas_charged }) =>
      gas_day === null || gas_charged === null ? [] : [{ id, app_id, gas_day, gas_charged, gas: 0 }],
    ),
  );
}

/** Collects changes by app and day, and stores them in a fixed order, so that two writers cannot deadlock. */
class UsageChanges {
  readonly #changes = new Map<string, { appId: string; day: number; gas: number }>();

  add(appId: string, day: number, gas: number): void {
    const key = `${appId}/${day.toString()}`;
    const change = this.#changes.get(key) ?? { appId, day, gas: 0 };
    this.#changes.set(key, { ...change, gas: change.gas + gas });
  }

  async store(trx: Trx): Promise<void> {
    const rows = [...this.#changes.keys()]
      .sort()
      .flatMap((key) => this.#changes.get(key) ?? [])
      .filter((change) => change.gas !== 0)
      .map(({ appId, day, gas }) => ({ app_id: appId, day, gas }));
    if (rows.length === 0) return;
    await sql`
      update gas_usage set used = used + input.gas
        from ${rowSet(trx, { app_id: "text", day: "integer", gas: "integer" }, rows)} as input
       where gas_usage.app_id = input.app_id and gas_usage.day = input.day`.execute(trx);
  }
}
