import type { NodeState } from "../../chain/chain-node.ts";
import { createApp, FIRST_TOKEN } from "../../commands/apps.ts";
import { daysLeft } from "../../domain/conditions.ts";
import { dayOf } from "../../domain/day.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { percentile, seriesSpan, BUCKET } from "../../domain/series.ts";
import { describeUsage, sumUsage } from "../../domain/usage.ts";
import { pageOfApps } from "../../store/apps/apps.ts";
import { readQuotaUses } from "../../store/apps/quotas.ts";
import { readSeries } from "../../store/listings/series.ts";
import { readUsageOfApps } from "../../store/listings/usage.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import {
  appsPage,
  doctorExample,
  doctorReport,
  newApp,
  newAppBody,
  newAppExample,
  operatorAppExample,
  operatorStatus as response,
  series,
  seriesExample,
  seriesQuery,
  statusExample,
} from "../schemas/operator.ts";
import type { LaneBalance } from "../../checks/state.ts";
import { isoTime } from "../present.ts";
import { keysetQuery, nextKeyset, readKeyset } from "../schemas/keyset.ts";

const operatorStatus = defineServiceEndpoint({
  method: "get",
  path: "/operator/status",
  summary: "Show the state of the whole service",
  name: "getOperatorStatus",
  description:
    "Backlog, indexer, webhook deliveries, and the lanes with their balances. What cannot be read now, such as balances while the node does not answer, is null. Results are up to some seconds old, what lanes spent up to a minute.",
  examples: { answer: statusExample },
  scope: "read",
  caller: "operator",
  response,
  handle: async (deps) => {
    const { database, deliveries, processes, chain, spent, nodes } = deps.state;
    const [stored, sent, running] = await Promise.all([database(), deliveries(), processes()]);
    const [asked, costs, readiness] = await Promise.all([chain(), spent(), deps.readiness()]);
    if (stored === null || sent === null || running === null) {
      throw new ApiError("unavailable", null, { retryAfter: 5, message: "The database cannot be read. Try again." });
    }
    const now = Date.now();
    const { checkpoint } = stored;
    const head = asked?.head ?? null;
    return {
      ready: readiness.ready,
      checks: readiness.details,
      backlog: stored.backlog,
      oldest_pending_seconds: ageOf(stored.oldestUnsent, now),
      indexer: { checkpoint, head, lag_blocks: head === null ? null : Math.max(0, head - checkpoint) },
      deliveries: { ...sent, oldest_overdue_seconds: ageOf(stored.overdueSince, now) },
      lanes: stored.lanes.map(({ lane, address, oldestUnmined }) => ({
        lane,
        address,
        in_use: deps.state.lanes.includes(lane),
        ...fundsOf(
          asked?.balances.find((one) => one.lane === lane),
          costs?.get(lane) ?? null,
        ),
        oldest_unmined_seconds: ageOf(oldestUnmined, now),
      })),
      nodes: nodes().states.map(presentNode),
      relay_paused: asked?.relayPaused ?? null,
      quarantined_contracts: stored.quarantined.length,
      processes: running,
    };
  },
});

function presentNode({ number, host, word, head, latency, failures, sends, problem }: NodeState) {
  const milliseconds = latency === null ? null : Math.round(1_000 * latency);
  return { node: number, host, state: word, head, latency_ms: milliseconds, failures, sends, problem };
}

/** @param funds undefined: the node does not answer. @param spent in a day; null: not known. */
function fundsOf(funds: LaneBalance | undefined, spent: bigint | null) {
  return {
    balance_wei: funds?.wei.toString() ?? null,
    spent_24h_wei: spent?.toString() ?? null,
    days_left: funds === undefined || spent === null ? null : daysLeft(funds.wei, spent),
    low_funds: funds?.low ?? null,
    advised_wei: funds?.advised?.toString() ?? null,
  };
}

/** In seconds. @param since milliseconds since 1970; null: there is nothing. */
function ageOf(since: number | null, now: number): number | null {
  return since === null ? null : Math.max(0, (now - since) / 1_000);
}

/** Days of the longer sum, today included. */
const DAYS = 30;

const operatorApps = defineServiceEndpoint({
  method: "get",
  path: "/operator/apps",
  summary: "List all apps, newest first, with what they used",
  name: "listApps",
  description: "Days are in UTC. `GET /v1/usage` says what counts on which day.",
  examples: { answer: { apps: [operatorAppExample], next: null } },
  scope: "read",
  caller: "operator",
  query: keysetQuery,
  response: appsPage,
  handle: async ({ database: { read } }, { query }) => {
    const page = await pageOfApps(read, readKeyset(query, "apps"));
    const today = dayOf(Date.now());
    const ids = page.items.map(({ id }) => id);
    const usage = await readUsageOfApps(read, ids, { from: today - DAYS + 1, to: today });
    const quotas = await readQuotaUses(read, page.items);
    const apps = quotas.map(({ app: { id, name, created_at }, use }) => {
      const days = usage.get(id) ?? [];
      return {
        app_id: id,
        name,
        created_at: isoTime(created_at),
        today: describeUsage(sumUsage(days.slice(-1))),
        last_30_days: describeUsage(sumUsage(days)),
        quotas: use,
      };
    });
    return { apps, next: nextKeyset(page, "apps") };
  },
});

const createOperatorApp = defineServiceEndpoint({
  method: "post",
  path: "/operator/apps",
  summary: "Create an app and its first token",
  name: "createApp",
  description:
    "As `npm run cli -- app create`. The answer shows the token once. The app gets the quotas of `APP_QUOTAS`. The session must itself have every scope of the token. If the answer was lost, the app may exist: find it with `GET /v1/operator/apps`, and create another token with `POST /v1/tokens`.",
  examples: {
    bodies: {
      "A token with every scope of the session": { name: "my-shop" },
      "A token that reads and mints": { name: "my-shop", scopes: ["read", "mint"], token_name: "server" },
    },
    answer: newAppExample,
  },
  scope: "read",
  caller: "operator",
  errors: ["app_name_taken"],
  body: newAppBody,
  response: newApp,
  handle: async (deps, { scopes, body }) => {
    const name = body.name.trim();
    const tokenName = body.token_name ?? FIRST_TOKEN;
    const order = { name, tokenName, scopes: body.scopes ?? null, quotas: deps.settings.appQuotas };
    const { id, createdAt, token } = await createApp(deps, { scopes }, order);
    return {
      app_id: id,
      name,
      created_at: isoTime(createdAt),
      token_id: token.id,
      scopes: [...token.scopes],
      token: token.token,
    };
  },
});

const operatorDoctor = defineServiceEndpoint({
  method: "get",
  path: "/operator/doctor",
  summary: "Check the whole service, and say how to fix each problem",
  name: "getDoctorFindings",
  description:
    "The findings of `npm run cli -- doctor`, with the keys of the process that answers. The checks run once at a time. Their result serves the calls of at least the next 15 seconds: see `checked_at`. If they take longer than 20 seconds, the answer is 503: call again, they go on meanwhile.",
  examples: { answer: doctorExample },
  scope: "read",
  caller: "operator",
  response: doctorReport,
  handle: async ({ doctor }) => {
    const report = await doctor();
    if (report === null) {
      const message =
        "The checks have no result yet: they take long, or ended with an error that is in the log. Call again in some seconds, or run `npm run cli -- doctor`.";
      throw new ApiError("unavailable", null, { retryAfter: 5, message });
    }
    return {
      result: report.result,
      findings: report.findings.map(({ check, result, words, condition }) => ({
        check,
        result,
        words,
        condition: condition ?? null,
      })),
      checked_at: isoTime(report.checkedAt),
    };
  },
});

const DEFAULT_HOURS = 24;

const operatorSeries = defineServiceEndpoint({
  method: "get",
  path: "/operator/series",
  summary: "Show how many requests became final over time, their latency and their fees",
  name: "getOperatorSeries",
  description:
    "Over all apps, for charts. Every request is counted when it becomes final: nothing is sampled. Latencies are counted in ranges, so the percentiles are exact to 10 %. A fee that the node showed only later is missing, and a later reorg changes nothing here: `GET /v1/operator/apps` and `GET /v1/usage` have the exact fees. Requests that became final before the service had this call are missing.",
  examples: { answer: seriesExample },
  scope: "read",
  caller: "operator",
  query: seriesQuery,
  response: series,
  handle: async ({ database }, { query }) => {
    const span = seriesSpan(query.hours ?? DEFAULT_HOURS, Date.now());
    const points = await readSeries(database.read, span);
    return {
      seconds_per_point: (span.width * BUCKET) / 1_000,
      points: points.map(({ at, completed, failed, latencies, feeWei }) => ({
        at: isoTime(at),
        completed,
        failed,
        latency_p50_ms: percentile(latencies, 0.5),
        latency_p95_ms: percentile(latencies, 0.95),
        fee_wei: feeWei.toString(),
      })),
    };
  },
});

export const OPERATOR = [operatorApps, createOperatorApp, operatorStatus, operatorDoctor, operatorSeries];
