import type { Command } from "commander";

import { removeApp } from "../../operator/remove-app.ts";
import { withDatabase } from "../database.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal } from "../terminal.ts";

export function appRemove(terminal: Terminal): Command {
  return resultCommand("remove", "Remove an app that has no wallets and no requests.", {
    examples: ["app remove my-shop"],
    json: "{app_id, name}",
    notes:
      "An app with wallets or requests cannot be removed: its tokens on chain would become unreachable.\n" +
      "To lock such an app out, revoke its tokens.",
  })
    .argument("<app>", "name or id of the app")
    .action(async (which: string, { json }: { json?: boolean }) => {
      const app = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        await removeApp({ database }, found);
        return found;
      });
      printResult(terminal, json, { app_id: app.id, name: app.name }, `removed: ${app.name} (${app.id})`);
    });
}
