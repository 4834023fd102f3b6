import type { z } from "zod";

import { MAX_PAGE } from "../../config/limits.ts";
import { eventsAfter } from "../../store/outbox/feed.ts";
import { defineEndpoint } from "../endpoint.ts";
import { eventExample } from "../examples.ts";
import { type event, eventsFeed, eventsQuery, writePosition } from "../schemas/events.ts";
import { streamPage } from "../streams/event-streams.ts";
import { openEventStream } from "../streams/open-stream.ts";

const streamExample = `retry: 1000\nid: ${writePosition(6)}\n\n${streamPage([{ position: 7, body: eventExample }]).toString()}`;

export const listEvents = defineEndpoint({
  method: "get",
  path: "/events",
  summary: "List events of the app's requests, oldest first",
  name: "listEvents",
  description:
    "The same bodies as webhooks, in a stable order. Use it without a webhook, or to catch up when the receiver was down. Pass the `next` of the last answer as `after`. Fewer events than `limit` mean that there are no more for now.\n\nWith `Accept: text/event-stream`, the answer is a stream of server-sent events, each sent as soon as it is stored. The stream begins after `Last-Event-ID`; without that header, after the parameter `after`; without both, with the next event. `id` is the cursor, `event` the type, `data` the event as JSON. When the connection is lost, call again with the last `id` as `Last-Event-ID`.",
  examples: { answer: { events: [eventExample], next: writePosition(7) } },
  scope: "read",
  query: eventsQuery,
  response: eventsFeed,
  stream: { example: streamExample, open: openEventStream },
  handle: async ({ database }, { appId, query }) => {
    const after = query.after ?? 0;
    const rows = await eventsAfter(database.read, appId, after, query.limit ?? MAX_PAGE);
    return {
      events: rows.map((row) => row.body satisfies z.input<typeof event>),
      next: writePosition(rows.at(-1)?.position ?? after),
    };
  },
});
