import type { Command } from "commander";

import { removeApp } from "../../operator/remove-app.ts";
import { appNamed } from "../find-app.ts";
import { printResult, resultCommand, type Terminal, withDatabase } from "../terminal.ts";

export function appRemove(terminal: Terminal): Command {
  return resultCommand("remove", "Remove an app that has no wallets and no requests.")
    .argument("<app>", "name or id of the app")
    .addHelpText(
      "after",
      "\nAn app that has wallets or requests is kept, or what it owns on chain could not be reached any more.\n" +
        "To lock it out, revoke its tokens.\nJSON: {app_id, name}",
    )
    .action(async (which: string, { json }: { json?: boolean }) => {
      const app = await withDatabase(terminal, async (database) => {
        const found = await appNamed(database.read, which);
        await removeApp({ database }, found);
        return found;
      });
      printResult(terminal, json, { app_id: app.id, name: app.name }, `removed: ${app.name} (${app.id})`);
    });
}
