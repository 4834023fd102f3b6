import type { Command } from "commander";

import { disableWebhook } from "../../store/outbox/webhooks.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";
import { describeWebhook, webhookOf } from "./show.ts";

export function webhookDisable(terminal: Terminal): Command {
  return resultCommand("disable", "Stop deliveries to the webhook of an app until the app registers it again.", {
    examples: ["webhook disable my-shop"],
    json: "the webhook, as `webhook show` prints it",
    notes: "Deliveries that wait for a retry fail.",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: { json?: boolean }) => {
      const webhook = await withDatabase(terminal, (database) =>
        database.write(async (trx) => {
          const app = await appNamed(trx, which);
          const { url } = await webhookOf(trx, app);
          await disableWebhook(trx, app.id, url, "an operator disabled the webhook", Date.now());
          return webhookOf(trx, app);
        }),
      );
      printResult(terminal, json, describeWebhook(webhook), `disabled: ${webhook.url}`);
    });
}
