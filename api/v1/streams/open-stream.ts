import type { Request, Response } from "express";

import { ApiError } from "../../domain/error-codes.ts";
import type { Db } from "../../store/db/sql.ts";
import { newestPositions } from "../../store/outbox/feed.ts";
import type { HttpDeps } from "../deps.ts";
import type { StreamCall } from "../endpoint.ts";
import { endMeasurement } from "../measure.ts";
import { readPosition } from "../schemas/events.ts";
import { beginStream } from "./event-streams.ts";

/** Whether the caller prefers server-sent events to JSON. A caller who takes everything gets JSON. */
export function prefersStream(request: Request): boolean {
  return request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";
}

/**
 * Answers with the app's events as they are stored. Begins after `Last-Event-ID`, which clients send when they reconnect,
 * else after `after`, else with the next event.
 */
export async function openEventStream(
  { database, streams, bytes }: HttpDeps,
  request: Request,
  response: Response,
  { appId, credential, query }: StreamCall<{ after?: number | undefined; limit?: number | undefined }>,
): Promise<void> {
  if (query.limit !== undefined) {
    const message = "A stream has no pages. Remove `limit`.";
    throw new ApiError("validation_failed", [{ field: "limit", code: "invalid", message }]);
  }
  const after = lastEventId(request) ?? query.after ?? (await newestEvent(database.read, appId));
  if (request.method === "HEAD") {
    beginStream(response, after);
    response.end();
    return;
  }
  streams.open(response, { appId, credential, after, bytes });
  endMeasurement(response);
}

async function newestEvent(db: Db, appId: string): Promise<number> {
  const [position = 0] = await newestPositions(db, [appId]);
  return position;
}

function lastEventId(request: Request): number | null {
  const given = request.get("last-event-id");
  if (given === undefined) return null;
  const position = readPosition(given);
  if (position !== null) return position;
  const message = "Must be the `id` of an event of this stream. Remove the header to begin with the next event.";
  throw new ApiError("validation_failed", [{ field: "Last-Event-ID", code: "invalid_format", message }]);
}
