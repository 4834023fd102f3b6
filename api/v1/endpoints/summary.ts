import { z } from "zod";

import { dayOf, dayText } from "../../domain/day.ts";
import { type PipelineReasons, unsentWaitsFor } from "../../domain/waiting-for.ts";
import { readSummary } from "../../store/listings/summary.ts";
import { defineEndpoint } from "../endpoint.ts";
import type { ChainState } from "../../checks/state.ts";
import { day, meanings } from "../schemas/outputs.ts";

/** Whether the service can send requests now, and what each word means to an app. */
const SENDING = {
  ok: "Requests are sent.",
  low_funds:
    "The keys that pay for transactions are low on funds. Requests are accepted, and wait when nothing is left.",
  paused: "The operator has paused the relay. Requests are accepted, and wait until it goes on.",
  fees_too_high: "Gas costs more than the operator accepts. Requests are accepted, and wait until fees fall.",
  lane_stuck:
    "No block has contained the transactions that were sent for more than five minutes. Requests are accepted, and wait.",
  unknown: "The node or the database could not be asked, or no process that sends requests runs.",
} as const;
type Sending = keyof typeof SENDING;

const count = z.int().nonnegative();

const daySummary = z
  .object({
    date: day,
    requests_accepted: count.describe("Requests that were accepted."),
    requests_completed: count.describe("Requests that became `completed`."),
    requests_failed: count.describe("Requests that became `failed`."),
    mints_completed: count.describe(
      "Mints among those that became `completed`. Mints of earlier versions do not count.",
    ),
  })
  .meta({ id: "DaySummary" });

const summary = z
  .object({
    today: daySummary.describe("Today until now."),
    yesterday: daySummary.describe("The whole day before."),
    requests_waiting: count.describe("Requests that are `pending` or `processing`."),
    collections: count.describe("Collections whose request has completed."),
    wallets: count.describe("Wallets of the app."),
    sending: z
      .enum(Object.keys(SENDING) as Sending[])
      .describe(`Whether requests are sent now. Later versions may have further words. ${meanings(SENDING)}`),
  })
  .meta({ id: "Summary" });

const example = {
  today: {
    date: "2026-05-04",
    requests_accepted: 120,
    requests_completed: 118,
    requests_failed: 2,
    mints_completed: 111,
  },
  yesterday: {
    date: "2026-05-03",
    requests_accepted: 80,
    requests_completed: 80,
    requests_failed: 0,
    mints_completed: 75,
  },
  requests_waiting: 3,
  collections: 2,
  wallets: 41,
  sending: "ok" as const,
};

export const getSummary = defineEndpoint({
  method: "get",
  path: "/summary",
  summary: "Show what the app did today and yesterday, and whether requests are sent",
  name: "getSummary",
  description:
    "Days are in UTC. A request counts on the day it was accepted, and again on the day it became final. The figures are counters, so the call costs the same for any number of requests. `sending` is up to some seconds old.",
  examples: { answer: example },
  scope: "read",
  response: summary,
  handle: async ({ database, state }, { appId }) => {
    const today = dayOf(Date.now());
    const [stored, chain, reasons] = await Promise.all([
      readSummary(database.read, appId, today),
      state.chain(),
      state.reasons(),
    ]);
    const show = (date: number, of: typeof stored.today) => ({
      date: dayText(date),
      requests_accepted: of.accepted,
      requests_completed: of.completed,
      requests_failed: of.failed,
      mints_completed: of.minted,
    });
    return {
      today: show(today, stored.today),
      yesterday: show(today - 1, stored.yesterday),
      requests_waiting: stored.waiting,
      collections: stored.collections,
      wallets: stored.wallets,
      sending: sendingOf(chain, reasons, Date.now()),
    };
  },
});

/**
 * One lane that can send is enough.
 * @param chain what this process reads from the chain: it knows of high fees and of a paused relay before a request waits for them.
 * @param reasons what the requests that are not sent wait for.
 */
export function sendingOf(chain: ChainState | null, reasons: PipelineReasons | null, now: number): Sending {
  if (reasons === null) return "unknown";
  const waits = unsentWaitsFor(reasons, now);
  if (waits !== "queued") return isSending(waits) ? waits : "unknown";
  if (chain === null) return "unknown";
  if (chain.relayPaused === true) return "paused";
  if (chain.feesTooHigh) return "fees_too_high";
  const lanes = chain.balances.filter(({ inUse }) => inUse);
  if (lanes.length === 0) return "unknown";
  return lanes.every(({ low }) => low) ? "low_funds" : "ok";
}

function isSending(word: string): word is Sending {
  return word in SENDING;
}
