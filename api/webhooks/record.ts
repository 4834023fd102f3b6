import type { Trx } from "../store/db/engine.ts";
import { recordTries } from "../store/outbox/deliveries.ts";
import { disableWebhook } from "../store/outbox/webhooks.ts";
import type { Tried } from "./tried.ts";

/** Stores the results, and disables the webhooks that are gone. @returns the ids of the deliveries whose results were stored. */
export async function record(trx: Trx, results: readonly Tried[], now: number): Promise<Set<string>> {
  const recorded = await recordTries(
    trx,
    results.map(({ delivery: { id, fence }, result }) => ({ id, fence, result })),
    now,
  );
  const gone = results.filter(({ delivery, outcome }) => outcome === "gone" && recorded.has(delivery.id));
  // Of the answers for one app, some may be those of a URL that it has replaced.
  const webhooks = new Map(gone.map(({ delivery }) => [`${delivery.appId} ${delivery.url}`, delivery]));
  for (const { appId, url } of [...webhooks.values()].sort((a, b) => (a.appId < b.appId ? -1 : 1)))
    await disableWebhook(trx, appId, url, "the receiver answered 410 to another event", now);
  return recorded;
}
