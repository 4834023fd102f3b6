import { z } from "zod";

import { MAX_USAGE_DAYS } from "../../config/limits.ts";
import { dayFrom, dayOf } from "../../domain/day.ts";
import { QUOTA_DESCRIPTIONS, QUOTA_NAMES, type QuotaName } from "../../domain/quota.ts";
import { refuse } from "./inputs.ts";
import { day, wei } from "./outputs.ts";

/** Days that are shown without `from`. */
const DEFAULT_DAYS = 30;

/** The days that a query asks for, as days since 1970. */
export function usageDays(query: { from?: string | undefined; to?: string | undefined }): { from: number; to: number } {
  const to = query.to === undefined ? dayOf(Date.now()) : dayFrom(query.to);
  return { from: query.from === undefined ? Math.max(0, to - DEFAULT_DAYS + 1) : dayFrom(query.from), to };
}

const queryDay = z.iso.date().superRefine((text, context) => {
  if (text < "1970-01-01") refuse(context, "too_small", "Must not be before 1970-01-01.");
});

export const usageQuery = z
  .strictObject({
    from: queryDay.optional().describe("The first day. Default: 29 days before `to`."),
    to: queryDay.optional().describe("The last day. Default: today."),
  })
  .superRefine((query, context) => {
    const { from, to } = usageDays(query);
    if (from > to) refuse(context, "too_big", "Must not be after `to`.", ["from"]);
    if (to - from >= MAX_USAGE_DAYS) {
      refuse(context, "too_many_days", `At most ${MAX_USAGE_DAYS.toString()} days can be shown at once.`, ["from"]);
    }
  });

const count = z.int().nonnegative();

const usageFigures = {
  requests_accepted: count.describe("Requests that were accepted."),
  requests_completed: count.describe("Requests that became `completed`."),
  requests_failed: count.describe("Requests that became `failed`."),
  gas_used: count.describe("Gas of transactions, by the day of their blocks."),
  fee_wei: wei.describe("Fees of the same transactions."),
  media_bytes: count.describe(
    "Bytes of the files that were copied for the app's requests (`copy_media`), counted for each request.",
  ),
  wallets_created: count.describe("Wallets that were created."),
};

export const usageSums = z.object(usageFigures).meta({ id: "UsageSums" });

const quota = z
  .object({
    used: count.describe("What counts now."),
    limit: count.nullable().describe("null: unlimited."),
  })
  .meta({ id: "Quota" });

export const quotas = z
  .object(
    Object.fromEntries(QUOTA_NAMES.map((name) => [name, quota.describe(QUOTA_DESCRIPTIONS[name])])) as Record<
      QuotaName,
      typeof quota
    >,
  )
  .meta({
    id: "Quotas",
    description: "What counts now, whatever the range of days, and the limits that the operator has set.",
  });

export const usage = z
  .object({
    from: day,
    to: day,
    total: usageSums.describe("The sums of the days."),
    days: z.array(z.object({ date: day, ...usageFigures })).describe("Every day, oldest first."),
    quotas,
  })
  .meta({ id: "Usage" });
