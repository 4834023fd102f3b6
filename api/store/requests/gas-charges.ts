import { sql } from "kysely";

import { estimateGas } from "../../domain/gas-estimate.ts";
import { isFinal, type RequestStatus } from "../../domain/request.ts";
import { forUpdateOf, rowSet, type Trx } from "../db/sql.ts";
import { toCommand } from "./stored-request.ts";

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
  const charged = requests.filter(({ gas_day }) => gas_day !== null).map(({ id }) => ({ id }));
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
       and requests.id in (select id from ${rowSet(trx, { id: "text" }, charged)} as input)
     order by requests.id ${forUpdateOf(trx, "requests")}`.execute(trx);
  const changes = new ChargeChanges();
  const changed = rows.flatMap((request) => {
    const charge = request.gas_used + (awaitsCost(request) ? estimateOf(request) : 0);
    if (charge === request.gas_charged) return [];
    changes.add(request.app_id, request.gas_day, charge - request.gas_charged);
    return [{ id: request.id, charge }];
  });
  if (changed.length === 0) return;
  await sql`
    update requests set gas_charged = input.charge
      from ${rowSet(trx, { id: "text", charge: "integer" }, changed)} as input where requests.id = input.id`.execute(
    trx,
  );
  await changes.store(trx);
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

/** Collects changes by app and day, and stores them in a fixed order, so that two writers cannot deadlock. */
class ChargeChanges {
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
