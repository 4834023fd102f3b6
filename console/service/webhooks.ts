import { signal } from "@preact/signals";

import { answerOf, type Shape } from "../../client/client.ts";
import { client } from "./client.ts";

export type Webhook = Shape<"Webhook">;

/** The app's webhooks that do not get their events. The home screen and the navigation show them. */
export const failingWebhooks = signal<readonly Webhook[]>([]);

/** Why a webhook does not get its events, as the end of a sentence. null: it gets them. */
export function problemOf({ disabled_at: disabled, last_error: error }: Webhook): string | null {
  return disabled === null ? error : "the receiver answered 410, or the operator disabled the webhook";
}

/** The app's webhooks. */
export async function readWebhooks(): Promise<readonly Webhook[]> {
  const { webhooks } = await answerOf(client().GET("/v1/webhooks"));
  failingWebhooks.value = webhooks.filter((webhook) => problemOf(webhook) !== null);
  return webhooks;
}
