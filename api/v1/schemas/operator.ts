import { z } from "zod";

import { SCOPES, USUAL_SCOPES } from "../../commands/api-tokens.ts";
import { FIRST_TOKEN } from "../../commands/apps.ts";
import { MAX_APP_NAME, MAX_TOKEN_NAME } from "../../config/limits.ts";
import { CONDITIONS, NODE_WORDS } from "../../domain/conditions.ts";
import { MAX_POINTS, MAX_SERIES_HOURS } from "../../domain/series.ts";
import { MOST_COUNTED } from "../../store/db/pages.ts";
import { quotas, usageSums } from "./usage.ts";
import { ALICE, newTokenExample, usageExample } from "../examples.ts";
import { optional, refuse, text } from "./inputs.ts";
import { nextField } from "./keyset.ts";
import { address, time, wei } from "./outputs.ts";
import { number, pageSchema } from "./pages.ts";
import { scope } from "./api-tokens.ts";

const count = z.int().nonnegative();

const seconds = z.number().nonnegative();
const upTo = `Counted up to ${MOST_COUNTED.toLocaleString("en")}.`;

const lane = z
  .object({
    lane: count.describe("Number of the lane."),
    address: address.describe("Send the chain's own currency to this address."),
    in_use: z.boolean().describe("false: a lane of earlier settings, which only finishes what it has begun."),
    balance_wei: wei.nullable().describe("null while the node does not answer."),
    spent_24h_wei: wei
      .nullable()
      .describe("What its transactions of the last 24 hours cost. null: not known, or the lane is not in use."),
    days_left: z
      .number()
      .nonnegative()
      .nullable()
      .describe("For how many days the balance lasts at this rate. null: nothing was spent, or not known."),
    low_funds: z
      .boolean()
      .nullable()
      .describe(
        "Whether it cannot pay for ten transactions like the recent ones at the present fees. null: not known.",
      ),
    advised_wei: wei
      .nullable()
      .describe("How much to send to a lane that is low on funds, at the present fees. null: nothing, or not known."),
    oldest_unmined_seconds: seconds
      .nullable()
      .describe("Age of its oldest transaction that no block contains. null: there is none."),
  })
  .meta({ id: "Lane" });

const node = z
  .object({
    node: z.int().min(1).describe("Its place in `RPC_URLS`, from 1."),
    host: z.string().describe("The host of its URL. The rest may contain a key, and is never shown."),
    state: z.enum(NODE_WORDS).describe("`up`: it is used. Any other: why it is not used now."),
    head: count.nullable().describe("The newest block that it has named. null: none yet."),
    latency_ms: count.nullable().describe("How long its last answer took. null: it has not answered."),
    failures: count.describe("Calls that it failed since the process that answers started."),
    sends: z.boolean().describe("Whether signed transactions are sent to it."),
    problem: z.string().nullable().describe("Why it is not used. null: it is used."),
  })
  .meta({ id: "Node" });

export const operatorStatus = z
  .object({
    ready: z.boolean().describe("Whether the process that answers can work, as `/readyz` says."),
    checks: z
      .record(z.string(), z.string())
      .describe("The checks of `/readyz` in this process: `ok`, or what is wrong, in detail."),
    backlog: z
      .object({
        media: count.describe("Requests that wait for their media."),
        pending: count.describe("Requests that wait to be sent."),
        processing: count.describe("Requests whose transaction was sent."),
      })
      .describe("Requests of all apps that are not final."),
    oldest_pending_seconds: seconds
      .nullable()
      .describe("How long the oldest request that waits to be sent has waited. null: none waits."),
    indexer: z
      .object({
        checkpoint: z.int().describe("The last block that the indexer processed."),
        head: count.nullable().describe("The node's newest block. null while the node does not answer."),
        lag_blocks: count.nullable().describe("Blocks that the indexer has not processed yet."),
      })
      .describe("How far the indexer is behind the node."),
    deliveries: z
      .object({
        waiting: count.describe(`Webhook deliveries with tries left. ${upTo}`),
        dead: count.describe(`Webhook deliveries that failed for good. ${upTo}`),
        oldest_overdue_seconds: seconds
          .nullable()
          .describe("How long the most overdue delivery should have been sent. null: none is overdue."),
      })
      .describe("Webhook deliveries of all apps."),
    lanes: z.array(lane).describe("Every lane, with its funds."),
    nodes: z.array(node).describe("The nodes of `RPC_URLS`, as this process knows them. Empty with one node."),
    relay_paused: z.boolean().nullable().describe("Whether the relay is paused. null: not known."),
    quarantined_contracts: count.describe("Contracts of others that are left alone for some time."),
    processes: z
      .object({
        api: count.describe("Processes with the role `api`."),
        relayer: count.describe("Processes with the role `relayer`."),
        other: count.describe("Processes with neither of these roles."),
      })
      .describe("Running processes of the service. One with the roles `api` and `relayer` counts twice."),
  })
  .meta({ id: "OperatorStatus" });

const result = z.enum(["ok", "warning", "problem"]);

export const doctorReport = z
  .object({
    result: result.describe("The worst of the findings."),
    findings: z
      .array(
        z.object({
          check: z.string().describe("Name of the check."),
          result: result.describe("How serious it is."),
          words: z.string().describe("What was found, and what to do."),
          condition: z.enum(CONDITIONS).nullable().describe("The name of this state in the log and in `/metrics`."),
        }),
      )
      .describe("One or more for each check, in the order of the checks."),
    checked_at: time.describe("When the checks began."),
  })
  .meta({ id: "DoctorReport" });

/* Example answers of the operator's calls. */

const TIME = "2026-05-04T10:00:00.000Z";

export const operatorAppExample = {
  app_id: "8a7c1f52-5a50-4f0a-9d35-3ff0c9d9f6a1",
  name: "my-shop",
  created_at: TIME,
  today: usageExample.total,
  last_30_days: usageExample.total,
  quotas: usageExample.quotas,
};

export const seriesExample = {
  points: [
    {
      at: TIME,
      completed: 118,
      failed: 2,
      latency_p50_ms: 4_695,
      latency_p95_ms: 9_390,
      fee_wei: "14688960000000000",
    },
  ],
  seconds_per_point: 1_200,
};

export const statusExample = {
  ready: true,
  checks: { database: "ok", chain: "ok", relayer: "ok" },
  backlog: { media: 0, pending: 3, processing: 12 },
  oldest_pending_seconds: 1.4,
  indexer: { checkpoint: 21_000_000, head: 21_000_001, lag_blocks: 1 },
  deliveries: { waiting: 2, dead: 0, oldest_overdue_seconds: null },
  lanes: [
    {
      lane: 0,
      address: ALICE,
      in_use: true,
      balance_wei: "1500000000000000000",
      spent_24h_wei: "14688960000000000",
      days_left: 102.1,
      low_funds: false,
      advised_wei: null,
      oldest_unmined_seconds: 2.5,
    },
  ],
  nodes: [
    {
      node: 1,
      host: "node.example:8545",
      state: "up" as const,
      head: 21_000_001,
      latency_ms: 12,
      failures: 0,
      sends: true,
      problem: null,
    },
  ],
  relay_paused: false,
  quarantined_contracts: 0,
  processes: { api: 1, relayer: 1, other: 0 },
};

export const doctorExample = {
  result: "warning" as const,
  findings: [
    { check: "chain", result: "ok" as const, words: "the node serves chain 1 and is in sync", condition: null },
    {
      check: "funds",
      result: "warning" as const,
      words: "Lane 0 is low on funds. `npm run cli -- top-up` prints its address.",
      condition: "low_funds" as const,
    },
  ],
  checked_at: TIME,
};

const app = z
  .object({
    app_id: z.string().describe("The operator's session chooses the app with `X-Moneta-App: <app_id>`."),
    name: z.string().describe("The name that the operator gave."),
    created_at: time,
    today: usageSums.describe("What the app has used today (UTC)."),
    last_30_days: usageSums.describe("What the app used in the last 30 days, today included."),
    quotas,
  })
  .meta({ id: "App" });

export const appsPage = z.object({ apps: pageSchema(app), next: nextField }).meta({ id: "AppsPage" });

export const newAppBody = z
  .strictObject({
    name: text(MAX_APP_NAME, 1)
      .check((context) => {
        if (context.value.trim() === "") refuse(context, "too_short", "Must not be blank.");
      })
      .describe("Unique name of the app. Spaces around it are removed."),
    scopes: optional(z.array(scope).min(1).max(SCOPES.length)).describe(
      "What the app's first token may do. By default all scopes of the session except `users`.",
    ),
    token_name: optional(text(MAX_TOKEN_NAME, 1)).describe(
      `Name of the token, for your own reference. By default \`${FIRST_TOKEN}\`.`,
    ),
  })
  .meta({ id: "CreateApp" });

export const newApp = z
  .object({
    app_id: z.string().describe("Id of the app."),
    name: z.string().describe("Name of the app."),
    created_at: time,
    token_id: z.string().describe("Id of the token."),
    scopes: z.array(z.string()).describe("What the token may do."),
    token: z.string().describe("The token itself. It is shown only now: the service stores its hash."),
  })
  .meta({ id: "NewApp" });

export const newAppExample = {
  app_id: "8a7c1f52-5a50-4f0a-9d35-3ff0c9d9f6a1",
  name: "my-shop",
  created_at: TIME,
  token_id: newTokenExample.token_id,
  scopes: [...USUAL_SCOPES],
  token: newTokenExample.token,
};

export const seriesQuery = z.strictObject({
  hours: number(1, MAX_SERIES_HOURS, "How many hours back. The default is 24.").optional(),
});

const latency = z.int().nonnegative().nullable();

const point = z
  .object({
    at: time.describe("When the point begins. It ends where the next one begins; the last one ends later."),
    completed: count.describe("Requests that became `completed`."),
    failed: count.describe("Requests that became `failed`."),
    latency_p50_ms: latency.describe(
      "Half of these requests took at most so long, from acceptance to the final outcome. Exact to 10 %. null: no request became final.",
    ),
    latency_p95_ms: latency.describe("The same for 95 % of them."),
    fee_wei: wei.describe("Their shares of the fees of the transactions that carried them."),
  })
  .meta({ id: "OperatorPoint" });

export const series = z
  .object({
    points: z.array(point).max(MAX_POINTS).describe(`Oldest first, at most ${MAX_POINTS.toString()}.`),
    seconds_per_point: z.int().positive().describe("How long each point is."),
  })
  .meta({ id: "OperatorSeries" });
