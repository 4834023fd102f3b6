import { ApiError } from "../../domain/error-codes.ts";
import { deleteWebhook as remove } from "../../store/outbox/webhooks.ts";
import { defineEndpoint } from "../endpoint.ts";
import { none, noQuery } from "../schemas/params.ts";
import { removedWebhook } from "../schemas/webhook.ts";

export function deleteWebhook() {
  return defineEndpoint({
    method: "delete",
    path: "/webhook",
    summary: "Remove the app's webhook",
    name: "deleteWebhook",
    examples: { answer: {} },
    scope: "webhooks",
    params: none,
    query: noQuery,
    response: removedWebhook,
    errors: ["not_found"],
    handle: async ({ database }, { appId }) => {
      if (!(await database.write((trx) => remove(trx, appId, Date.now())))) throw new ApiError("not_found");
      return {};
    },
  });
}
