import { z } from "zod";

import { MAX_POINTS, MAX_SERIES_HOURS } from "../../domain/series.ts";
import { nextField } from "./keyset.ts";
import { time, wei } from "./outputs.ts";
import { number, pageOf } from "./pages.ts";
import { quotas, usageFigures } from "./usage.ts";

const count = z.int().nonnegative();
const usage = z.object(usageFigures);

const app = z.object({
  app_id: z.string().meta({ description: "The operator's session chooses the app with `X-Moneta-App: <app_id>`." }),
  name: z.string().meta({ description: "The name that the operator gave." }),
  created_at: time,
  today: usage.meta({ description: "What the app has used today (UTC)." }),
  last_30_days: usage.meta({ description: "What the app used in the last 30 days, today included." }),
  quotas,
});

export const appsPage = z.object({ apps: pageOf(app), next: nextField });

export const seriesQuery = z.strictObject({
  hours: number(1, MAX_SERIES_HOURS, "How many hours back. The default is 24.").optional(),
});

const latency = z.int().nonnegative().nullable();

const point = z.object({
  at: time.meta({ description: "When the point begins. It ends where the next one begins; the last one ends later." }),
  completed: count.meta({ description: "Requests that became `completed`." }),
  failed: count.meta({ description: "Requests that became `failed`." }),
  latency_p50_ms: latency.meta({
    description:
      "Half of these requests took at most so long, from acceptance to the final outcome. Exact to 10 %. null: no request became final.",
  }),
  latency_p95_ms: latency.meta({ description: "The same for 95 % of them." }),
  fee_wei: wei.meta({ description: "Their shares of the fees of the transactions that carried them." }),
});

export const series = z.object({
  points: z
    .array(point)
    .max(MAX_POINTS)
    .meta({ description: `Oldest first, at most ${MAX_POINTS.toString()}.` }),
  seconds_per_point: z.int().positive().meta({ description: "How long each point is." }),
});
