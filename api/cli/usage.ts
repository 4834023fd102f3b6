import { type Command, InvalidArgumentError } from "commander";
import { formatEther } from "ethers";

import { MAX_USAGE_DAYS } from "../config/limits.ts";
import { networkOf } from "../config/networks.ts";
import { dayFrom, dayOf, dayText } from "../domain/day.ts";
import { describeUsage, sumUsage } from "../domain/usage.ts";
import { OperatorError } from "../operate/operator-error.ts";
import { readMeta } from "../store/db/meta.ts";
import { readUsage } from "../store/listings/usage.ts";
import { withDatabase } from "./database.ts";
import { appsNamed } from "./options.ts";
import { printResult, resultCommand, table, type Terminal } from "./terminal.ts";

interface Options {
  json?: boolean;
  app?: string;
  from?: number;
  to?: number;
}

/** Days that are shown without `--from`. */
const DEFAULT_DAYS = 30;

export function usage(terminal: Terminal): Command {
  return resultCommand("usage", "Show what apps used: requests, gas, fees, media and wallets.", {
    examples: ["usage", "usage --from 2026-05-01 --to 2026-05-31 --app my-shop --json"],
    json: "{from, to, total, apps: [{app_id, name, total, days: [{date, ...}]}]}",
    notes: "Days are in UTC. The JSON output also has every day of each app, and fees in wei.",
  })
    .option("--app <app>", "only this app (name or id)")
    .option("--from <day>", "first day, such as 2026-05-04 (default: 29 days before the last)", readDay)
    .option("--to <day>", "last day (default: today)", readDay)
    .action(async ({ json, app, ...options }: Options) => {
      const range = daysOf(options);
      const { apps, coin } = await withDatabase(terminal, async ({ read }) => {
        const found = [];
        for (const { id, name } of await appsNamed(read, app))
          found.push({ id, name, days: await readUsage(read, id, range) });
        return { apps: found, coin: coinOf(await readMeta(read, "chain_id")) };
      });
      const total = sumUsage(apps.flatMap(({ days }) => days));
      const result = {
        from: dayText(range.from),
        to: dayText(range.to),
        total: describeUsage(total),
        apps: apps.map(({ id, name, days }) => ({
          app_id: id,
          name,
          total: describeUsage(sumUsage(days)),
          days: days.map((day) => ({ date: dayText(day.day), ...describeUsage(day) })),
        })),
      };
      const rows = [...result.apps, { name: "all apps", total: result.total }].map((row) => [
        row.name,
        ...Object.values({ ...row.total, fee_wei: formatEther(row.total.fee_wei) }).map(String),
      ]);
      const head = ["APP", "ACCEPTED", "COMPLETED", "FAILED", "GAS", `FEE (${coin})`, "MEDIA BYTES", "WALLETS"];
      const text = `${result.from} to ${result.to}\n\n${table(head, rows, "")}`;
      printResult(terminal, json, result, text);
    });
}

/** The coin that pays for transactions. @param chainId null: the service has not started yet. */
function coinOf(chainId: string | null): string {
  return (chainId === null ? undefined : networkOf(BigInt(chainId))?.coin) ?? "the chain's coins";
}

function daysOf({ from, to = dayOf(Date.now()) }: Options): { from: number; to: number } {
  const first = from ?? Math.max(0, to - DEFAULT_DAYS + 1);
  if (first > to) throw new OperatorError("--from must not be after --to.");
  if (to - first >= MAX_USAGE_DAYS) {
    throw new OperatorError(`At most ${MAX_USAGE_DAYS.toString()} days can be shown at once: move --from or --to.`);
  }
  return { from: first, to };
}

/** Parses an option that is a day. @returns days since 1970. */
function readDay(text: string): number {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? dayFrom(text) : Number.NaN;
  // JavaScript reads the 30th of February as a day of March.
  if (Number.isNaN(day) || day < 0 || dayText(day) !== text) {
    throw new InvalidArgumentError("Give a day such as 2026-05-04.");
  }
  return day;
}
