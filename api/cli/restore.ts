import type { Command } from "commander";

import { parseSettings } from "../config/settings.ts";
import { type Restored, restore as restoreFrom } from "../operate/backup/restore.ts";
import { databaseName } from "../store/db/errors.ts";
import { PROGRAM, printResult, resultCommand, type Terminal } from "./terminal.ts";

export function restore(terminal: Terminal): Command {
  return resultCommand("restore", "Restore a backup into the empty places that the settings name.", {
    examples: ["restore /backups/2026-11-22"],
    json: "{database, chain_checked, deployment_kept, backup: as `backup` prints it}",
    notes:
      "1. Stop every process of the service. 2. Put the seed back (SEED_FILE), and set SECRET_KEYS. 3. Run this command.\n" +
      "4. Run `reconcile`, then `doctor`. 5. Start the service. The backup is checked while it is read, and never changed.\n" +
      "If the command is interrupted, run it again.",
  })
    .argument("<dir>", "the folder of a backup")
    .action(async (dir: string, { json }: { json?: boolean }) => {
      const settings = parseSettings(terminal.env);
      const report = (step: string) => terminal.remark?.(`${step}\n`);
      const restored = await restoreFrom(
        { settings, programs: { folder: settings.pgBin, env: terminal.env }, report },
        dir,
      );
      const database = databaseName(settings.databaseUrl);
      const { manifest, chainChecked, deploymentKept } = restored;
      const result = { database, chain_checked: chainChecked, deployment_kept: deploymentKept, backup: manifest };
      printResult(terminal, json, result, describe(database, restored));
    });
}

function describe(database: string, { manifest, chainChecked, deploymentKept }: Restored): string {
  const { damaged } = manifest.media;
  return [
    `Restored ${database} from the backup of ${manifest.created_at}.`,
    ...(chainChecked ? [] : ["The node at RPC_URL did not answer, so its chain was not compared with the backup's."]),
    ...(deploymentKept
      ? [
          `${manifest.deployment?.file ?? ""} in DEPLOYMENTS_DIR differs from the backup's. It was kept; the database has the addresses.`,
        ]
      : []),
    ...(damaged.length === 0 ? [] : [`The backup lacks blocks of hosted media: ${damaged.join(", ")}.`]),
    "",
    "Next:",
    "  1. Make sure that no other process of the service runs with this seed, and that no transaction of its lanes waits:",
    "     compare their addresses at a second node or a block explorer.",
    `  2. ${PROGRAM} reconcile    adopts what happened on chain after the backup`,
    `  3. ${PROGRAM} doctor       must find no problem`,
    "  4. Start the service.",
    "Requests that were accepted after the backup are unknown. Their callers may repeat them only if reconcile has not found",
    "their result on chain.",
  ].join("\n");
}
