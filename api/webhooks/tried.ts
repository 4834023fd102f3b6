import type { WebhookOutcome } from "../shared/metrics.ts";
import type { TryResult } from "../store/outbox/deliveries.ts";
import type { DueDelivery } from "../store/outbox/due-deliveries.ts";
import { nextTry } from "./schedule.ts";
import type { Sent } from "./sender.ts";

/** A delivery that was sent, and what came of it. */
export interface Tried {
  delivery: DueDelivery;
  outcome: WebhookOutcome;
  result: TryResult;
}

export function triedAs(delivery: DueDelivery, { status, error }: Sent, now: number): Tried {
  const outcome = outcomeOf(status);
  const [delivered, gone] = [outcome === "delivered", outcome === "gone"];
  const result = {
    responseStatus: status,
    error: delivered ? null : (error ?? `the receiver answered ${String(status)}`),
    nextAt: delivered || gone ? null : nextTry(delivery.tries + 1, now, Math.random()),
  };
  return { delivery, outcome, result };
}

/** @param status null: the receiver did not answer. */
function outcomeOf(status: number | null): WebhookOutcome {
  if (status === null) return "no_answer";
  if (status === 410) return "gone";
  return status >= 200 && status < 300 ? "delivered" : "refused";
}
