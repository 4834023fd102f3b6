import { dayText } from "../../domain/day.ts";
import { describeUsage, sumUsage } from "../../domain/usage.ts";
import { readQuotaUse } from "../../store/apps/quotas.ts";
import { readUsage } from "../../store/listings/usage.ts";
import { defineEndpoint } from "../endpoint.ts";
import { usageExample } from "../examples.ts";
import { usage, usageDays, usageQuery } from "../schemas/usage.ts";

export const getUsage = defineEndpoint({
  method: "get",
  path: "/usage",
  summary: "Show what the app used, by day",
  name: "getUsage",
  description:
    "Days are in UTC. A request counts on the day it was accepted, and again on the day it became final. The requests of a transaction share its gas and its fee in proportion to the gas that they were expected to use, also those that failed. All shares together are exactly what the transactions cost. A chain reorganization never counts them twice. `quotas` has what counts towards the quotas of the app, and their limits. A call that would exceed one gets 429 `quota_exceeded`.",
  examples: { answer: usageExample },
  scope: "read",
  query: usageQuery,
  response: usage,
  handle: async ({ database }, { appId, query }) => {
    const { from, to } = usageDays(query);
    const days = await readUsage(database.read, appId, { from, to });
    return {
      from: dayText(from),
      to: dayText(to),
      total: describeUsage(sumUsage(days)),
      days: days.map((one) => ({ date: dayText(one.day), ...describeUsage(one) })),
      quotas: await readQuotaUse(database.read, appId),
    };
  },
});
