import type { Command } from "commander";

import { parseAppQuotas } from "../../config/settings-parts.ts";
import { createApp } from "../../operator/create-app.ts";
import { withNewDatabase } from "../database.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function appCreate(terminal: Terminal): Command {
  return resultCommand("create", "Create an app and its first token. The token has every scope.", {
    examples: ["app create my-shop", "app create my-shop --json"],
    json: "{app_id, name, token}",
    notes:
      "The token is printed only now. The database stores its hash.\n" +
      "The app gets the quotas of the settings APP_QUOTA_...; `app quota` shows and changes them.",
  })
    .argument("<name>", "unique name of the app, 1 to 100 characters")
    .action(async (name: string, { json }: { json?: boolean }) => {
      const { appQuotas } = parseAppQuotas(terminal.env);
      const {
        appId,
        name: stored,
        token,
      } = await withNewDatabase(terminal, (database) => createApp({ database }, name, appQuotas));
      const text = [`app:   ${stored} (${appId})`, `token: ${token}`, "", "Save the token: it is not shown again."];
      printResult(terminal, json, { app_id: appId, name: stored, token }, text.join("\n"));
    });
}
