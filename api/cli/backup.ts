import { resolve } from "node:path";

import type { Command } from "commander";

import { LOCAL_CHAIN_ID } from "../chain/local-contracts.ts";
import { parseSettings, type Settings } from "../config/settings.ts";
import { findKeys } from "../context/keys.ts";
import { fingerprintOfImportKey } from "../keys/imported-keys.ts";
import { backUp } from "../operate/backup/back-up.ts";
import type { Manifest } from "../operate/backup/manifest.ts";
import { restore as restoreFrom, type Restored } from "../operate/backup/restore.ts";
import { plural } from "../shared/text.ts";
import { databaseName } from "../store/db/errors.ts";
import { printResult, PROGRAM, resultCommand, type Terminal } from "./terminal.ts";

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
      const keys = await aboutKeys(settings, manifest);
      printResult(terminal, json, result, [describeRestore(database, restored), ...keys].join("\n"));
    });
}

function describeRestore(database: string, { manifest, chainChecked, deploymentKept }: Restored): string {
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

/** What to know of the imported keys: only the seed that they were encrypted to opens them. */
async function aboutKeys(settings: Settings, { imported_keys: keys, chain }: Manifest): Promise<string[]> {
  if (keys === undefined || keys.count === 0) return [];
  const { keyring } = await findKeys(settings, chain?.id === LOCAL_CHAIN_ID.toString());
  const [own, many] = [keyring?.importKey, plural(keys.count, "imported key")];
  if (own === undefined) return ["", `Only the seed of this backup opens its ${many}. It is not on this machine.`];
  const opens = fingerprintOfImportKey(own) === keys.import_key;
  return [
    "",
    opens ? `The seed opens the ${many}.` : `The seed in SEED_FILE CANNOT OPEN the ${many}: it is another one.`,
  ];
}

/** Damaged blocks that are named. */
const MOST_NAMED = 5;

export function backup(terminal: Terminal): Command {
  return resultCommand("backup", "Back up database, hosted media and deployment file into an empty folder.", {
    examples: ["backup /backups/2026-11-22"],
    json: "{folder, complete, not_included: [text], backup: {format, moneta, created_at, engine, server, schema, chain, database, imported_keys, media, deployment}}",
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
      printResult(terminal, json, result, describeBackup(resolve(dir), manifest));
      if (!complete) terminal.fail?.();
    });
}

function describeBackup(folder: string, manifest: Manifest): string {
  const { database, media, deployment, chain, imported_keys: keys } = manifest;
  const rows = Object.values(database.rows).reduce((sum, count) => sum + count, 0);
  const { list, damaged } = media;
  return [
    `Backed up to ${folder}, and checked:`,
    `  database    ${plural(rows, "row")}, ${size(database.bytes)}`,
    ...(keys === undefined || keys.count === 0
      ? []
      : [
          `  keys        ${plural(keys.count, "imported key")} of wallets: only backups have them, and only this seed opens them`,
        ]),
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
