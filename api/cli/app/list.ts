import type { Command } from "commander";

import { listApps } from "../../store/apps/apps.ts";
import { withDatabase } from "../database.ts";
import { printResult, resultCommand, table, type Terminal, time } from "../terminal.ts";

export function appList(terminal: Terminal): Command {
  return resultCommand("list", "List all apps.", {
    examples: ["app list"],
    json: "[{app_id, name, created_at}]",
  }).action(async ({ json }: { json?: boolean }) => {
    const apps = await withDatabase(terminal, (database) => listApps(database.read));
    const result = apps.map((app) => ({ app_id: app.id, name: app.name, created_at: time(app.created_at) }));
    const rows = result.map((app) => [app.name, app.app_id, app.created_at ?? ""]);
    printResult(
      terminal,
      json,
      result,
      table(["NAME", "ID", "CREATED"], rows, "No apps yet. Create one: app create <name>"),
    );
  });
}
