import { answerOf } from "../../../../client/client.ts";
import { check } from "../check.ts";
import type { Tour } from "../tour.ts";

/** Milliseconds to wait for the last deliveries. */
const TIMEOUT = 15_000;

export async function registerWebhook({ api, webhooks, report }: Tour): Promise<void> {
  report.step("Register a webhook");
  const { secret } = await answerOf(api.PUT("/v1/webhook", { body: { url: webhooks.url } }));
  check(secret !== null, "the API returned no signing secret");
  webhooks.trust(secret);
  report.line(`events go to ${webhooks.url}; the API returned the signing secret, once`);
}

/** Checks that one webhook reported the outcome of every request. */
export async function checkWebhooks({ api, webhooks, requests, report, signal }: Tour): Promise<void> {
  report.step("Check the webhooks");
  for (const requestId of requests.ids) {
    const outcome = await webhooks.outcome(requestId, TIMEOUT, signal);
    check(outcome !== null, `no webhook reported the outcome of request ${requestId}`);
  }
  const completed = webhooks.events.filter(({ type }) => type === "completed");
  check(
    completed.length === requests.ids.length,
    `${completed.length} webhooks reported ${requests.ids.length} requests`,
  );
  check(webhooks.refused === 0, `${webhooks.refused} webhooks had an invalid signature`);
  report.result(`${webhooks.events.length} events arrived, all with a valid signature`);
  report.line(`${completed.length} of them are "completed" events: one for each request of this tour`);
  // The receiver stops with the tour.
  await answerOf(api.DELETE("/v1/webhook"));
}
