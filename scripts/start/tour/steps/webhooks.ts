import { answerOf } from "../../../../api/client/client.ts";
import { check } from "../check.ts";
import type { Tour } from "../tour.ts";

/** Milliseconds that the last deliveries get to arrive. */
const TIMEOUT = 15_000;

export async function registerWebhook({ api, webhooks, report }: Tour): Promise<void> {
  report.step("Register a webhook");
  const { secret } = await answerOf(api.PUT("/v1/webhook", { body: { url: webhooks.url } }));
  check(secret !== null, "the webhook was registered without a secret");
  webhooks.trust(secret);
  report.line(`events go to ${webhooks.url}, signed with a secret that was shown once`);
}

/** Of every request one webhook has told the outcome. */
export async function checkWebhooks({ api, webhooks, requests, report, signal }: Tour): Promise<void> {
  report.step("Look back at the webhooks");
  for (const requestId of requests.ids) {
    const outcome = await webhooks.outcome(requestId, TIMEOUT, signal);
    check(outcome !== null, `no webhook told how request ${requestId} ended`);
  }
  const completed = webhooks.events.filter(({ type }) => type === "completed");
  check(
    completed.length === requests.ids.length,
    `${completed.length} webhooks told of ${requests.ids.length} requests`,
  );
  check(webhooks.refused === 0, `${webhooks.refused} webhooks had a wrong signature`);
  report.line(`${webhooks.events.length} events arrived, every signature was right`);
  report.line(`${completed.length} of them say "completed": one for each request of this tour`);
  // Nobody listens there any more.
  await answerOf(api.DELETE("/v1/webhook"));
}
