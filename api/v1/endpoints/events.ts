import type { Request, Response } from "express";

import { MAX_PAGE } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { eventsAfter, newestPositions } from "../../store/outbox/feed.ts";
import type { HttpDeps } from "../deps.ts";
import { defineEndpoint, type StreamCall } from "../endpoint.ts";
import { eventExample, tokenEventExample } from "../examples.ts";
import { endMeasurement } from "../measure.ts";
import {
  type AnyEvent,
  type EventsQuery,
  eventsFeed,
  eventsQuery,
  readPosition,
  writePosition,
} from "../schemas/events.ts";
import { beginStream, streamPage } from "../streams/event-streams.ts";

const streamExample = `retry: 1000\nid: ${writePosition(6)}\n\n${streamPage([{ position: 7, body: eventExample }]).toString()}`;

export const listEvents = defineEndpoint({
  method: "get",
  path: "/events",
  summary: "List the app's events, oldest first",
  name: "listEvents",
  description:
    "The same bodies as webhooks, in a stable order. Without `types`, events of the app's requests. Use it without a webhook, or to catch up when the receiver was down. Pass the `next` of the last answer as `after`. Fewer events than `limit` mean that there are no more for now.\n\nWith `Accept: text/event-stream`, the answer is a stream of server-sent events, each sent as soon as it is stored. The stream begins after `Last-Event-ID`; without that header, after the parameter `after`; without both, with the next event. `id` is the cursor, `event` the type, `data` the event as JSON. When the connection is lost, call again with the last `id` as `Last-Event-ID`.",
  examples: { answer: { events: [eventExample, tokenEventExample], next: writePosition(7) } },
  scope: "read",
  query: eventsQuery,
  response: eventsFeed,
  stream: { example: streamExample, open: openEventStream },
  handle: async ({ database }, { appId, query }) => {
    const after = query.after ?? 0;
    const rows = await eventsAfter(database.read, { appId, after, types: query.types }, query.limit ?? MAX_PAGE);
    return {
      events: rows.map((row) => row.body satisfies AnyEvent),
      next: writePosition(rows.at(-1)?.position ?? after),
    };
  },
});

/**
 * Answers with the app's events as they are stored. Begins after `Last-Event-ID`, which clients send when they reconnect,
 * else after `after`, else with the next event.
 */
async function openEventStream(
  { database, streams, bytes }: HttpDeps,
  request: Request,
  response: Response,
  { appId, credential, query }: StreamCall<EventsQuery>,
): Promise<void> {
  if (query.limit !== undefined) {
    const message = "A stream has no pages. Remove `limit`.";
    throw new ApiError("validation_failed", [{ field: "limit", code: "invalid", message }]);
  }
  const after = lastEventId(request) ?? query.after ?? (await newestPositions(database.read, [appId]))[0] ?? 0;
  if (request.method === "HEAD") {
    beginStream(response, after);
    response.end();
    return;
  }
  streams.open(response, { appId, credential, after, types: query.types, bytes });
  endMeasurement(response);
}

function lastEventId(request: Request): number | null {
  const given = request.get("last-event-id");
  if (given === undefined) return null;
  const position = readPosition(given);
  if (position !== null) return position;
  const message = "Must be the `id` of an event of this stream. Remove the header to begin with the next event.";
  throw new ApiError("validation_failed", [{ field: "Last-Event-ID", code: "invalid_format", message }]);
}
