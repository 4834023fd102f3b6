import type { Command } from "commander";

import { createApp } from "../../operator/create-app.ts";
import { printResult, resultCommand, type Terminal, withDatabase } from "../terminal.ts";

export function appCreate(terminal: Terminal): Command {
  return resultCommand("create", "Add an app, with a first token that may do everything.")
    .argument("<name>", "name of the app, unique")
    .addHelpText("after", "\nThe token is shown once: it is stored as a hash only.\nJSON: {app_id, name, token}")
    .action(async (name: string, { json }: { json?: boolean }) => {
      const { appId, name: stored, token } = await withDatabase(terminal, (database) => createApp({ database }, name));
      const words = [`app:   ${stored} (${appId})`, `token: ${token}`, "", "Keep the token: it is not shown again."];
      printResult(terminal, json, { app_id: appId, name: stored, token }, words.join("\n"));
    });
}
