import { useEffect, useRef } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { client } from "../service/client.ts";
import { useLive } from "../service/live.ts";
import type { Order } from "../service/order.ts";
import { type Page, type Pages, usePages } from "../service/use-data.ts";
import { mergeRequests, type StatusFilter, toReadAgain } from "./merge-requests.ts";
import type { Request } from "./request-state.ts";

/** Events that come together, such as those of a batch, cause one look at the service. */
const GATHER_MS = 150;

/** The listing of requests, kept up to date by events. */
export function useLiveRequests(
  status: StatusFilter,
  load: (cursor: string | undefined) => Promise<Page<Request>>,
  order: Order = "newest",
): Pages<Request> {
  const pages = usePages(load, [status]);
  const latest = useRef(pages);
  latest.current = pages;
  const changed = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout>>();

  async function update(): Promise<void> {
    timer.current = undefined;
    const ids = changed.current;
    changed.current = new Set();
    const shown = latest.current.items;
    const first = await load(undefined);
    const others = await Promise.all(toReadAgain(shown, first.items, ids).map(readRequest));
    latest.current.replace((items) => mergeRequests(items, first.items, others, status, order));
  }

  useLive((event) => {
    changed.current.add(event.request_id);
    // A failed look loses nothing: the rows stay as they were, and the next event or reload reads them again.
    timer.current ??= setTimeout(() => void update().catch(() => undefined), GATHER_MS);
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
    },
    [],
  );
  return pages;
}

export function readRequest(id: string): Promise<Request> {
  return answerOf(client().GET("/v1/requests/{request_id}", { params: { path: { request_id: id } } }));
}
