import type { Command } from "commander";

import { disableWebhook } from "../../store/outbox/webhooks.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal, withDatabase } from "../terminal.ts";
import { describeWebhook, webhookOf } from "./show.ts";

export function webhookDisable(terminal: Terminal): Command {
  return resultCommand("disable", "Send nothing more to the webhook of an app until the app registers it again.")
    .argument("<app>", "name or id of the app")
    .addHelpText("after", "\nWhat waited for a further try is given up.\nJSON: as `webhook show`")
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
