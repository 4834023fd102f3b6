import type { Command } from "commander";
import { pino } from "pino";

import { parsePruneSettings } from "../config/settings-parts.ts";
import { PRUNED_KINDS, type PrunedKind, type Removed } from "../domain/retention.ts";
import { addPruned, countPrunable, prune as pruneOldRows, type Pruned } from "../operator/prune.ts";
import { plural } from "../shared/plural.ts";
import { isPostgres } from "../store/db/database-name.ts";
import { announced } from "./announced.ts";
import { withDatabase } from "./database.ts";
import { printResult, resultCommand, table, type Terminal } from "./terminal.ts";

const HEAD = ["KIND", "KEPT FOR", "ROWS", "BYTES"];

export function prune(terminal: Terminal): Command {
  return resultCommand("prune", "Delete rows that are older than the settings RETAIN_... allow.", {
    examples: ["prune --dry-run", "prune --json"],
    json: "{dry_run, rows, bytes, kinds: [{kind, days, rows, bytes}]} (days null: kept forever)",
    notes:
      "The service may run; it prunes by itself too, every ten minutes. Bytes are an estimate.\n" +
      "The database reuses the space for new rows; its files do not get smaller.",
  })
    .option("--dry-run", "count what would be deleted, and delete nothing")
    .action(async ({ json, dryRun = false }: { json?: boolean; dryRun?: boolean }) => {
      const { retain, databaseUrl } = parsePruneSettings(terminal.env);
      const pruned = await withDatabase(terminal, async (database) => {
        const logger = pino({ level: "error" }, pino.destination(2));
        const deps = { database, retain, logger, now: Date.now };
        if (dryRun) return countPrunable(deps);
        const sums: Pruned = new Map();
        const tell = (kind: PrunedKind, removed: Removed) => {
          addPruned(sums, kind, removed);
          terminal.rewrite?.(`pruned: ${plural(total(sums, "rows"), "row")}`);
        };
        await announced(database, () => pruneOldRows(deps, new AbortController().signal, tell));
        terminal.rewrite?.("");
        return sums;
      });
      const kinds = PRUNED_KINDS.map((kind) => ({
        kind,
        days: retain[kind],
        ...(pruned.get(kind) ?? { rows: 0, bytes: 0 }),
      }));
      const result = { dry_run: dryRun, rows: total(pruned, "rows"), bytes: total(pruned, "bytes"), kinds };
      const rows = kinds.map(({ kind, days, rows: count, bytes }) => [
        kind,
        days === null ? "ever" : plural(days, "day"),
        count.toString(),
        bytes.toString(),
      ]);
      const words = `${dryRun ? "would be deleted" : "deleted"}: ${plural(result.rows, "row")} (about ${plural(result.bytes, "byte")})`;
      const text = [table(HEAD, rows, ""), "", words, ...(dryRun ? [] : [afterwards(databaseUrl)])].join("\n");
      printResult(terminal, json, result, text);
    });
}

function total(pruned: Pruned, figure: "rows" | "bytes"): number {
  return [...pruned.values()].reduce((sum, removed) => sum + removed[figure], 0);
}

function afterwards(databaseUrl: string): string {
  return isPostgres(databaseUrl)
    ? "PostgreSQL reuses the space after its next vacuum, which it runs by itself."
    : "SQLite reuses the freed pages for new rows. The file keeps its size.";
}
