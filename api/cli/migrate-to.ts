import { type Command, InvalidArgumentError } from "commander";

import { databaseUrl } from "../config/parsers.ts";
import { parseSettings } from "../config/settings.ts";
import { moveDatabase } from "../operator/move-database.ts";
import { plural } from "../shared/plural.ts";
import type { MovedTable, MoveProgress } from "../store/move/move.ts";
import { printResult, resultCommand, table, type Terminal } from "./terminal.ts";

/** Characters of the progress bar. */
const BAR = 24;

export function migrateTo(terminal: Terminal): Command {
  return resultCommand(
    "migrate-to",
    "Copy the whole database into another, empty one: to PostgreSQL, or back to SQLite.",
    {
      examples: ["migrate-to postgres://moneta@db.internal/moneta", "migrate-to file:data/moneta.sqlite"],
      json: "{tables: [{table, rows, checksum}]}",
      notes:
        "1. Stop every process of the service. 2. Run this command with the settings of the service.\n" +
        "3. Set DATABASE_URL to the new database, and MEDIA_STORE as before, for every process. 4. Start them.\n" +
        "Every table is read again from the new database and compared. The old database is not changed: keep it as a backup,\n" +
        "and never start the service with it again. If the command is interrupted, run it again.",
    },
  )
    .argument("<url>", "the new database: postgres://user:password@host/database, or file:<path>", readUrl)
    .action(async (to: string, { json }: { json?: boolean }) => {
      const { databaseUrl: from, mediaStore } = parseSettings(terminal.env);
      const tables = await moveDatabase(from, to, progress(terminal));
      printResult(terminal, json, { tables }, describe(tables, mediaStore.kind));
    });
}

function readUrl(text: string): string {
  const parsed = databaseUrl.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => message).join("; "));
}

function describe(tables: readonly MovedTable[], media: "files" | "database" | "s3"): string {
  const place = { files: "`files`", database: "`database`", s3: "the same bucket" }[media];
  const rows = tables.reduce((sum, each) => sum + each.rows, 0);
  const lines = tables.map(({ table: name, rows: count, checksum }) => [name, count.toString(), checksum.slice(0, 16)]);
  return [
    table(["TABLE", "ROWS", "SHA-256"], lines, ""),
    "",
    `Moved ${plural(rows, "row")}. Each table of the new database has the same rows and the same checksum as its source.`,
    `Now set DATABASE_URL to the new database and MEDIA_STORE to ${place} for every process, and start them.`,
    "Do not start the service with the old database again.",
  ].join("\n");
}

/** One line for each table. On a terminal it is rewritten while the table is copied. */
function progress(terminal: Terminal): MoveProgress {
  let written = -1;
  let current = "";
  return ({ table: name, checking, rows, total }) => {
    const share = total === 0 ? 1 : (rows / total + (checking ? 1 : 0)) / 2;
    const percent = Math.floor(100 * Math.min(1, share));
    const done = checking && rows >= total;
    if (name === current && percent === written) return;
    [current, written] = [name, percent];
    const filled = Math.round((BAR * percent) / 100);
    const line = `${"#".repeat(filled)}${".".repeat(BAR - filled)} ${percent.toString().padStart(3)} %  ${name} (${plural(total, "row")})`;
    if (terminal.rewrite !== undefined) terminal.rewrite(done ? `${line}\n` : line);
    else if (done) terminal.remark?.(`${line}\n`);
  };
}
