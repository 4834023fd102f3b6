import type { Command } from "commander";
import { formatEther } from "ethers";

import { daysLeft, FUNDS_FOR_BATCHES, isLowOnFunds, SPENDING_PERIOD } from "../domain/conditions.ts";
import { type LaneFunds, readLaneFunds } from "../operate/doctor/chain-checks.ts";
import { spentSince } from "../store/sending/spent.ts";
import { withServiceState } from "./database.ts";
import { printResult, resultCommand, table, type Terminal } from "./terminal.ts";

interface LaneRow extends LaneFunds {
  /** What the transactions of the last 24 hours cost, in wei. */
  spent: bigint;
  low: boolean;
}

export function topUp(terminal: Terminal): Command {
  return resultCommand("top-up", "Print the addresses of the lanes, their balances, and for how long these last.", {
    examples: ["top-up", "top-up --json"],
    json: "[{lane, address, balance_wei, spent_24h_wei, days_left, low_funds}]. days_left is null when nothing was spent.",
    notes:
      "Send the chain's own currency to these addresses. The service notices it by itself.\n" +
      "SPENT IN 24 H is what the transactions of the last 24 hours cost. One whose receipt is not known yet counts with the\n" +
      "most that it can have cost. DAYS LEFT is for how long the balance lasts at this rate.",
  }).action(async ({ json }: { json?: boolean }) => {
    const { rows, least } = await withServiceState(terminal, async (place) => {
      const { funds, batchCost } = await readLaneFunds({ ...place, ...place.settings });
      const since = Date.now() - SPENDING_PERIOD;
      const found: LaneRow[] = [];
      for (const one of funds) {
        const spent = await spentSince(place.database.read, one.lane, since);
        found.push({ ...one, spent, low: isLowOnFunds(one.balance, batchCost) });
      }
      return { rows: found, least: batchCost * FUNDS_FOR_BATCHES };
    });
    printResult(terminal, json, rows.map(describe), text(rows, least));
  });
}

function describe({ lane, address, balance, spent, low }: LaneRow) {
  return {
    lane,
    address,
    balance_wei: balance.toString(),
    spent_24h_wei: spent.toString(),
    days_left: daysLeft(balance, spent),
    low_funds: low,
  };
}

function text(rows: readonly LaneRow[], least: bigint): string {
  const cells = rows.map(({ lane, address, balance, spent, low }) => [
    lane.toString(),
    address,
    formatEther(balance),
    formatEther(spent),
    daysLeft(balance, spent)?.toString() ?? "",
    low ? "low_funds" : "ok",
  ]);
  const head = ["LANE", "ADDRESS", "BALANCE (ETHER)", "SPENT IN 24 H", "DAYS LEFT", "STATE"];
  const empty = "No lane has sent anything yet, and no seed is here: run this where the relayer runs.";
  const advice = `Ten transactions like the recent ones may cost ${formatEther(least)} ether at the present fees. A lane with less is low on funds.`;
  return rows.length === 0 ? empty : `${table(head, cells, empty)}\n\n${advice}`;
}
