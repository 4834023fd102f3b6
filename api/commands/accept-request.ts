import { randomBytes } from "node:crypto";

import type { Command } from "../domain/command.ts";
import { ApiError } from "../domain/error-codes.ts";
import { estimateGas } from "../domain/gas-estimate.ts";
import type { RequestType } from "../domain/request.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { counterKeys, readCounter } from "../store/db/counters.ts";
import type { Trx } from "../store/db/engine.ts";
import { chargeGas, type GasCharge, secondsOfDayLeft } from "../store/requests/gas-usage.ts";
import { insertRequest } from "../store/requests/requests.ts";
import { type Caller, claimKey, type IdempotencyDeps } from "./idempotency.ts";

/** `Retry-After` in seconds when the backlog is full. */
const RETRY_WHEN_FULL = 30;

export interface AcceptDeps extends IdempotencyDeps {
  /** Notified when a request can be claimed. */
  signals: { requests: { notify(): void } };
  settings: { appGasPerDay: number | null; limits: { backlog: number } };
}

/** A command whose rules are checked, ready to be stored. */
export interface Acceptance {
  type: RequestType;
  command: Command;
  /** Encrypted. */
  unlockable?: string | null;
  collection?: string | null;
  tokenId?: string | null;
  /** Reserves what the request needs, such as supply or copies. If it throws, nothing of the request is stored. */
  reserve?: (trx: Trx, requestId: string) => Promise<void>;
}

/**
 * Stores a request with its reservations and its idempotency key in one transaction.
 * @returns the JSON text of the answer; for a repeated call, the answer of the first one.
 * @throws ApiError `quota_exceeded`, `unavailable`
 */
export async function acceptRequest(deps: AcceptDeps, caller: Caller, acceptance: Acceptance): Promise<string> {
  const id = randomBytes(32).toString("hex");
  const response = JSON.stringify({ request_id: id });
  const answer = await deps.database.write(async (trx) => {
    const now = Date.now();
    const earlier = await claimKey(deps, trx, caller, response, now);
    if (earlier !== null) return earlier;
    await checkBacklog(deps, trx);
    const gas = await charge(deps, trx, caller.appId, acceptance.command, now);
    await insertRequest(trx, {
      id,
      appId: caller.appId,
      type: acceptance.type,
      command: acceptance.command,
      unlockable: acceptance.unlockable ?? null,
      collection: acceptance.collection ?? null,
      tokenId: acceptance.tokenId ?? null,
      gas,
      now,
    });
    await acceptance.reserve?.(trx, id);
    return response;
  });
  crashPoint("request:committed");
  if (answer === response) deps.signals.requests.notify();
  return answer;
}

/** While the node is unavailable, requests wait in the backlog. This limits the backlog. @throws ApiError `unavailable` */
async function checkBacklog(deps: AcceptDeps, trx: Trx): Promise<void> {
  if ((await readCounter(trx, counterKeys.backlog())) >= deps.settings.limits.backlog) {
    throw new ApiError("unavailable", null, { retryAfter: RETRY_WHEN_FULL });
  }
}

/** @returns null when the app has no gas budget. */
async function charge(
  deps: AcceptDeps,
  trx: Trx,
  appId: string,
  command: Command,
  now: number,
): Promise<GasCharge | null> {
  const { appGasPerDay: budget } = deps.settings;
  if (budget === null) return null;
  const charged = await chargeGas(trx, appId, { gas: estimateGas(command), budget, now });
  if (charged === null) throw new ApiError("quota_exceeded", null, { retryAfter: secondsOfDayLeft(now) });
  return charged;
}
