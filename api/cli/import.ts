import type { Command } from "commander";

import { openBlocks } from "../content/store/open-blocks.ts";
import { importApp, type Imported } from "../operate/leave/import.ts";
import { plural } from "../shared/text.ts";
import { announced } from "./announced.ts";
import { adoptDeps } from "./collection.ts";
import { withServiceState } from "./database.ts";
import { appNamed, readWhole } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  app: string;
  wait: number;
  json?: boolean;
}

/** Seconds to wait until the service has read the collections. */
const WAIT = 600;

export function importAll(terminal: Terminal): Command {
  return resultCommand("import", "Bring an export of another installation, on the same chain, into an app.", {
    examples: ["import /exports/my-shop --app my-shop"],
    json: "{app_id, complete, added: {wallets, collections, media, tokens}, present: as added, reading: [address], left_out: [{file, why, count, example}]}",
    notes:
      "Users become watch-only wallets, contracts are adopted (you allow it), and their metadata and media are served here. The running\n" +
      "service reads tokens, holders and history from the chain; this command waits for it. The same command again adds what is\n" +
      "missing. The exit code is 1 if collections are still being read.",
  })
    .argument("<dir>", "the folder of an export")
    .requiredOption("--app <app>", "name or id of the app")
    .option("--wait <seconds>", "how long to wait for the service", readWhole, WAIT)
    .action((dir: string, { app: name, wait, json }: Options) =>
      withServiceState(terminal, async (place) => {
        const { database, settings, chain } = place;
        const app = await appNamed(database.read, name);
        const blocks = openBlocks(settings.mediaStore, {
          ...{ database, dataDir: settings.dataDir, keepFree: settings.limits.freeDiskBytes },
        });
        const report = (step: string) => terminal.remark?.(`${step}\n`);
        const deps = { ...adoptDeps(place), blocks, chain, settings, wait, report };
        const imported = await announced(database, () => importApp(deps, app.id, dir));
        const { added, present, reading, leftOut: left_out } = imported;
        const complete = reading.length === 0;
        const result = { app_id: app.id, complete, added, present, reading, left_out };
        printResult(terminal, json, result, describe(imported));
        if (!complete) terminal.fail?.();
      }),
    );
}

function describe({ added, present, reading, leftOut }: Imported): string {
  const left = leftOut.map(({ file, why, count, example }) => {
    const such = example === null ? "" : ` Example: ${example}`;
    return `left out, ${count.toString()} of ${file}: ${why}${such}`;
  });
  return [
    ...(["wallets", "collections", "media", "tokens"] as const).map(
      (kind) => `${kind}: ${added[kind].toString()} added, ${present[kind].toString()} there already`,
    ),
    ...left,
    ...(reading.length === 0
      ? []
      : [`The service still reads ${plural(reading.length, "collection")}. Run this command again later.`]),
  ].join("\n");
}
