import { resolve } from "node:path";

import type { Command } from "commander";

import { parseSettings } from "../config/settings.ts";
import { backUp } from "../operate/backup/back-up.ts";
import type { Manifest } from "../operate/backup/manifest.ts";
import { plural } from "../shared/plural.ts";
import { printResult, resultCommand, type Terminal } from "./terminal.ts";

/** Damaged blocks that are named. */
const MOST_NAMED = 5;

export function backup(terminal: Terminal): Command {
  return resultCommand("backup", "Back up database, hosted media and deployment file into an empty folder.", {
    examples: ["backup /backups/2026-11-22"],
    json: "{folder, complete, not_included: [text], backup: {format, moneta, created_at, engine, server, schema, chain, database, media, deployment}}",
    notes:
      "The service may run. Everything is checked after it was copied. The seed and SECRET_KEYS are not in a backup: save\n" +
      "them separately. A folder without manifest.json is not a backup. On PostgreSQL this needs pg_dump (see PG_BIN).\n" +
      "The exit code is 1 if hosted media are missing or damaged; everything else is backed up nevertheless.",
  })
    .argument("<dir>", "a folder that is empty or does not exist, outside of DATA_DIR")
    .action(async (dir: string, { json }: { json?: boolean }) => {
      const settings = parseSettings(terminal.env);
      const report = (step: string) => {
        terminal.remark?.(`${step}\n`);
        return Promise.resolve();
      };
      const programs = { folder: settings.pgBin, env: terminal.env };
      const manifest = await backUp({ settings, programs, report }, dir);
      const complete = manifest.media.damaged.length === 0;
      const result = { folder: resolve(dir), complete, not_included: notIncluded(manifest), backup: manifest };
      printResult(terminal, json, result, describe(resolve(dir), manifest));
      if (!complete) terminal.fail?.();
    });
}

function describe(folder: string, manifest: Manifest): string {
  const { database, media, deployment, chain } = manifest;
  const rows = Object.values(database.rows).reduce((sum, count) => sum + count, 0);
  const { list, damaged } = media;
  return [
    `Backed up to ${folder}, and checked:`,
    `  database    ${plural(rows, "row")}, ${size(database.bytes)}`,
    `  media       ${list === null ? mediaElsewhere(media.store) : `${plural(list.blocks, "block")}, ${size(list.block_bytes)}`}`,
    `  deployment  ${deployment?.file ?? "no file; the database has the addresses of the contracts"}`,
    `  chain       ${chain === null ? "none yet" : `${chain.id}, up to block ${chain.block.toString()}`}`,
    ...(damaged.length === 0 ? [] : ["", ...describeDamage(damaged)]),
    "",
    "Not in the backup:",
    ...notIncluded(manifest).map((text) => `  ${text}`),
  ].join("\n");
}

function mediaElsewhere(store: string | null): string {
  if (store === null) return "none yet";
  return store === "database" ? "in the database" : `in ${store}, which is not copied`;
}

function describeDamage(damaged: readonly string[]): string[] {
  const more = damaged.length - MOST_NAMED;
  return [
    `INCOMPLETE: the service itself does not have ${plural(damaged.length, "block")} of hosted media that the database names:`,
    ...damaged.slice(0, MOST_NAMED).map((cid) => `  ${cid}`),
    ...(more > 0 ? [`  and ${more.toString()} more`] : []),
    "Run `doctor --media`. An earlier backup may have these blocks, in its folder `blocks`.",
  ];
}

function notIncluded({ media }: Manifest): string[] {
  return [
    "The seed: SEED_FILE and SEED_PASSPHRASE, or its 24 words. Without it every wallet is lost. `keys check` proves a copy.",
    "SECRET_KEYS: without them unlockable content and webhook secrets cannot be decrypted.",
    ...(media.store?.startsWith("s3:") === true
      ? [`Hosted media in ${media.store}: back up the bucket after this.`]
      : []),
  ];
}

function size(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, "byte");
  const units = ["kB", "MB", "GB", "TB"];
  const step = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** step).toFixed(1)} ${units[step - 1] ?? ""}`;
}
