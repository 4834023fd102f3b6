import { dayOf } from "../../domain/day.ts";
import { describeUsage, sumUsage } from "../../domain/usage.ts";
import { pageOfApps } from "../../store/apps/apps.ts";
import { readQuotaUses } from "../../store/apps/quotas.ts";
import { readUsageOfApps } from "../../store/listings/usage.ts";
import { defineServiceEndpoint } from "../endpoint.ts";
import { operatorAppExample } from "../examples/operator.ts";
import { isoTime } from "../present/time.ts";
import { keysetQuery, nextKeyset, readKeyset } from "../schemas/keyset.ts";
import { appsPage } from "../schemas/operator.ts";
import { none } from "../schemas/params.ts";

/** Days of the longer sum, today included. */
const DAYS = 30;

export function operatorApps() {
  return defineServiceEndpoint({
    method: "get",
    path: "/operator/apps",
    summary: "List all apps, newest first, with what they used",
    name: "listApps",
    description: "Days are in UTC. `GET /v1/usage` says what counts on which day.",
    examples: { answer: { apps: [operatorAppExample], next: null } },
    scope: "read",
    caller: "operator",
    params: none,
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
}
