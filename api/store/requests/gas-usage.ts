import { sql } from "kysely";

import { dayOf } from "../../domain/day.ts";
import type { Command } from "../../domain/command.ts";
import { estimateGas, type GasMeasurement, UNMEASURED_GAS } from "../../domain/gas-estimate.ts";
import { isFinal, type RequestStatus } from "../../domain/request.ts";
import { forUpdate, rowSet, textSet, type Trx } from "../db/sql.ts";
import { readMeasuredGas } from "./gas-measurement.ts";
import { toCommand } from "./requests.ts";

/*
 * Gas used by an app per day (UTC), if a daily budget is set. An accepted request is charged an estimate. Its shares of the gas
 * that its transactions used are added as they become known. The share of the transaction that runs the call replaces the
 * estimate. All charges go to the day of acceptance.
 */

interface ChargedRequest {
  id: string;
  app_id: string;
  status: RequestStatus;
  gas_day: number;
  gas_charged: number;
  gas_estimate: number | null;
  gas_used: number;
  command: string;
  /** 1 or 0. */
  has_outcome: number;
  block_number: number | null;
  /** The batch whose transaction ran the call, or the last one that carried it. */
  batch_id: number | null;
  /** 1 or 0. */
  cost_known: number;
}

/**
 * Charges the gas budgets of apps again for requests whose state or costs have changed. The charge follows from what is stored
 * now, not from what happened before, so a reorg needs no rule of its own.
 */
export async function chargeAgain(
  trx: Trx,
  requests: readonly { id: string; gas_day: number | null }[],
): Promise<void> {
  const charged = requests.filter(({ gas_day }) => gas_day !== null).map(({ id }) => id);
  if (charged.length === 0) return;
  const { rows } = await sql<ChargedRequest>`
    select requests.id, requests.app_id, requests.status, requests.gas_day, requests.gas_charged,
           requests.gas_estimate, requests.command,
           coalesce(requests.gas_used, 0) as gas_used, requests.block_number, batches.id as batch_id,
           case when requests.outcome is null then 0 else 1 end as has_outcome,
           case when batches.fee_wei is null then 0 else 1 end as cost_known
      from requests
      left join attempts on attempts.hash = requests.transaction_hash
      left join batches on batches.id = attempts.batch_id
     where requests.gas_day is not null and requests.gas_charged is not null
       and requests.id in ${textSet(trx, charged)}
     order by requests.id ${forUpdate(trx, "requests")}`.execute(trx);
  const changed = rows.flatMap((request) => {
    const { id, app_id, gas_day: day, gas_charged: before } = request;
    const charge = request.gas_used + (awaitsCost(request) ? estimateOf(request) : 0);
    return charge === before ? [] : [{ id, app_id, day, charge, more: charge - before }];
  });
  if (changed.length === 0) return;
  await sql`
    update requests set gas_charged = input.charge
      from ${rowSet(trx, { id: "text", charge: "integer" }, changed)} as input where requests.id = input.id`.execute(
    trx,
  );
  await chargeApps(trx, changed);
}

/** What is charged until the cost is known. Earlier versions did not store it. */
function estimateOf({ gas_estimate, command }: ChargedRequest): number {
  return gas_estimate ?? estimateGas(toCommand(command));
}

/** Whether the cost of the transaction that runs the call is not known yet, so that the estimate is charged for it. */
function awaitsCost({ status, has_outcome, block_number, batch_id, cost_known }: ChargedRequest): boolean {
  const decided = isFinal(status) || has_outcome === 1;
  if (!decided) return true;
  // It failed before it was sent, or its number was cancelled: no batch runs it.
  if (block_number === null || batch_id === null) return false;
  return cost_known === 0;
}

/** Changes what apps have used, in a fixed order, so that two writers cannot deadlock. */
async function chargeApps(trx: Trx, charges: readonly { app_id: string; day: number; more: number }[]): Promise<void> {
  const sums = new Map<string, { app_id: string; day: number; more: number }>();
  for (const { app_id, day, more } of charges) {
    const key = `${app_id}/${day.toString()}`;
    sums.set(key, { app_id, day, more: more + (sums.get(key)?.more ?? 0) });
  }
  const changed = [...sums].filter(([, { more }]) => more !== 0);
  if (changed.length === 0) return;
  const rows = changed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  await sql`
    update gas_usage set used = used + input.more
      from ${rowSet(trx, { app_id: "text", day: "integer", more: "integer" }, rows)} as input
     where gas_usage.app_id = input.app_id and gas_usage.day = input.day`.execute(trx);
}

/** The gas that a request was charged, and the day. */
export interface GasCharge {
  day: number;
  gas: number;
}

interface Usage {
  app_id: string;
  used: number;
}

/** What the apps have used on a day. Nobody else changes it until the end of the transaction. */
async function lockUsage(trx: Trx, apps: ReadonlySet<string>, day: number): Promise<Usage[]> {
  const { rows } = await sql<Usage>`
    select app_id, used from gas_usage where day = ${day} and app_id in ${textSet(trx, apps)}
     order by app_id ${forUpdate(trx)}`.execute(trx);
  return rows;
}

async function beginUsage(trx: Trx, apps: ReadonlySet<string>, day: number): Promise<void> {
  const rows = Array.from(apps, (app_id) => ({ app_id }));
  await sql`
    insert into gas_usage (app_id, day, used)
    select app_id, cast(${day} as bigint), 0 from ${rowSet(trx, { app_id: "text" }, rows)} as input where true order by app_id
    on conflict (app_id, day) do nothing`.execute(trx);
}

/** The remaining gas budgets of the apps of a group of calls, for today. */
export class GasBudgets {
  /** Gas that each app may use in a day; null: unlimited. */
  readonly #budget: number | null;
  readonly #day: number;
  /** What calls cost on the chain. */
  readonly #measured: GasMeasurement;
  readonly #used = new Map<string, { before: number; charged: number }>();

  private constructor(budget: number | null, day: number, measured = UNMEASURED_GAS) {
    this.#budget = budget;
    this.#day = day;
    this.#measured = measured;
  }

  static async read(trx: Trx, apps: ReadonlySet<string>, budget: number | null, now: number): Promise<GasBudgets> {
    const day = dayOf(now);
    if (budget === null) return new GasBudgets(budget, day);
    const budgets = new GasBudgets(budget, day, await readMeasuredGas(trx));
    let rows = await lockUsage(trx, apps, day);
    if (rows.length < apps.size) {
      // The first calls of the day. Without a row there is nothing that another process would wait for.
      await beginUsage(trx, apps, day);
      rows = await lockUsage(trx, apps, day);
    }
    for (const { app_id, used } of rows) budgets.#used.set(app_id, { before: used, charged: 0 });
    return budgets;
  }

  /** What a request is charged; null: there is no budget. */
  chargeOf(command: Command): GasCharge | null {
    return this.#budget === null ? null : { day: this.#day, gas: estimateGas(command, this.#measured) };
  }

  /** Whether the rest of the day's budget is large enough. */
  fits(appId: string, charge: GasCharge | null): boolean {
    const app = this.#used.get(appId);
    return (
      charge === null || (app !== undefined && app.before + app.charged + charge.gas <= (this.#budget ?? Infinity))
    );
  }

  /** Charges the app for an accepted request. */
  add(appId: string, charge: GasCharge | null): void {
    const app = this.#used.get(appId);
    if (app !== undefined) app.charged += charge?.gas ?? 0;
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
