import { resolve } from "node:path";

import type { Command } from "commander";

import { openBlocks } from "../content/store/open-blocks.ts";
import type { Workplace } from "../context/workplace.ts";
import { exportApp } from "../operate/leave/export.ts";
import type { ExportManifest } from "../operate/leave/manifest.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { plural } from "../shared/text.ts";
import { withServiceState } from "./database.ts";
import { appNamed } from "./options.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

interface Options {
  app: string;
  unlockable?: boolean;
  json?: boolean;
}

export function exportAll(terminal: Terminal): Command {
  return resultCommand("export", "Write everything of an app into an empty folder, to go on elsewhere.", {
    examples: ["export /exports/my-shop --app my-shop"],
    json: "{folder, complete, export: {format, moneta, created_at, app, chain, public_url, files: {name: {rows, bytes, sha256, block}}, left_out: {unlockable, media}}}",
    notes:
      "Wallets, collections, tokens with metadata, holders, history, requests and events, one JSON object in each line; media as files.\n" +
      "README.md in the folder says what each file is, and how to go on. Never keys or secrets: wallets leave by transfers.\n" +
      "The service may run. If the command is interrupted, run it again with another folder. A folder without manifest.json is not\n" +
      "an export. The exit code is 1 if media are missing or damaged.",
  })
    .argument("<dir>", "a folder that is empty or does not exist, outside of DATA_DIR")
    .requiredOption("--app <app>", "name or id of the app")
    .option("--unlockable", "decrypt unlockable content, and write it in clear text")
    .action((dir: string, options: Options) =>
      withServiceState(terminal, (place) => run(terminal, place, dir, options)),
    );
}

async function run(
  terminal: Terminal,
  { database, chain, settings, keys }: Workplace,
  dir: string,
  { app: name, unlockable = false, json }: Options,
): Promise<void> {
  const app = await appNamed(database.read, name);
  if (unlockable && keys.sealer === null) throw new OperatorError(keys.sealerProblem ?? "");
  const manifest = await exportApp(
    {
      ...{ database, chain, settings, blocks: openBlocks(settings.mediaStore, { ...settings, database }) },
      sealer: unlockable ? keys.sealer : null,
      report: (step) => terminal.remark?.(`${step}\n`),
    },
    app,
    dir,
  );
  const folder = resolve(dir);
  const complete = manifest.left_out.media === 0;
  printResult(terminal, json, { folder, complete, export: manifest }, describe(folder, manifest));
  if (!complete) terminal.fail?.();
}

function describe(folder: string, { app, files, left_out: { unlockable, media } }: ExportManifest): string {
  return [
    `Exported ${app.name} to ${folder}. README.md there says how to go on.`,
    ...Object.entries(files).map(([file, { rows }]) => `  ${file}: ${plural(rows, "line")}`),
    ...(unlockable === 0 ? [] : [`Left out: unlockable content of ${plural(unlockable, "token")} (--unlockable).`]),
    ...(media === 0
      ? []
      : [`INCOMPLETE: the service itself does not have ${plural(media, "file")}. Run \`doctor --media\`.`]),
  ].join("\n");
}
