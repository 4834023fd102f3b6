import type { Command } from "commander";
import { formatEther } from "ethers";

import { daysLeft, FUNDS_FOR_BATCHES } from "../domain/conditions.ts";
import { type LaneBalance, readChainState, readSpending } from "../checks/state.ts";
import { withServiceState } from "./database.ts";
import { printResult, resultCommand, table, type Terminal } from "./terminal.ts";

interface LaneRow extends LaneBalance {
  /** What the transactions of the last 24 hours cost, in wei. */
  spent: bigint;
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
      const [read, relay] = [place.database.read, place.chain.contracts.relay];
      const { balances, batchCost } = await readChainState({ ...place, read, relay, keyring: place.keys.keyring });
      const spent = await readSpending(read, place.settings.lanes, Date.now());
      const used = balances.filter(({ inUse }) => inUse);
      const found = used.map((one): LaneRow => ({ ...one, spent: spent.get(one.lane) ?? 0n }));
      return { rows: found, least: batchCost * FUNDS_FOR_BATCHES };
    });
    printResult(terminal, json, rows.map(describe), text(rows, least));
  });
}

function describe({ lane, address, wei, spent, low }: LaneRow) {
  return {
    lane,
    address,
    balance_wei: wei.toString(),
    spent_24h_wei: spent.toString(),
    days_left: daysLeft(wei, spent),
    low_funds: low,
  };
}

function text(rows: readonly LaneRow[], least: bigint): string {
  const cells = rows.map(({ lane, address, wei, spent, low }) => [
    lane.toString(),
    address,
    formatEther(wei),
    formatEther(spent),
    daysLeft(wei, spent)?.toString() ?? "",
    low ? "low_funds" : "ok",
  ]);
  const head = ["LANE", "ADDRESS", "BALANCE (ETHER)", "SPENT IN 24 H", "DAYS LEFT", "STATE"];
  const empty = "No lane has sent anything yet, and no seed is here: run this where the relayer runs.";
  const advice = `Ten transactions like the recent ones may cost ${formatEther(least)} ether at the present fees. A lane with less is low on funds.`;
  return rows.length === 0 ? empty : `${table(head, cells, empty)}\n\n${advice}`;
}
