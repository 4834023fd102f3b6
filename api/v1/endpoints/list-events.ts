import type { z } from "zod";

import { MAX_PAGE } from "../../config/limits.ts";
import { eventsAfter } from "../../store/outbox/events.ts";
import { defineEndpoint } from "../endpoint.ts";
import { eventExample } from "../examples.ts";
import { type event, eventsFeed, eventsQuery, writePosition } from "../schemas/events.ts";
import { none } from "../schemas/params.ts";

export function listEvents() {
  return defineEndpoint({
    method: "get",
    path: "/events",
    summary: "List events of the app's requests, oldest first",
    name: "listEvents",
    description:
      "The same bodies as webhooks, in a stable order. Use it without a webhook, or to catch up when the receiver was down. Pass the `next` of the last answer as `after`. Fewer events than `limit` mean that there are no more for now.",
    examples: { answer: { events: [eventExample], next: writePosition(7) } },
    scope: "read",
    params: none,
    query: eventsQuery,
    response: eventsFeed,
    handle: async ({ database }, { appId, query }) => {
      const after = query.after ?? 0;
      const rows = await eventsAfter(database.read, appId, after, query.limit ?? MAX_PAGE);
      return {
        events: rows.map((row) => row.body satisfies z.input<typeof event>),
        next: writePosition(rows.at(-1)?.position ?? after),
      };
    },
  });
}
