import { useEffect, useRef } from "preact/hooks";

import { answerOf } from "../../client/client.ts";
import { useAgain } from "../service/again.ts";
import { client } from "../service/client.ts";
import { useLive } from "../service/live.ts";
import { type Page, type Pages, usePages } from "../service/use-data.ts";
import { readListAgain } from "./merge-requests.ts";
import type { Request } from "./request-state.ts";

/** Events that come together, such as those of a batch, cause one look at the service. */
const GATHER_MS = 150;

/** The listing of requests, kept up to date by events. @param status of the requests of the list. null: any */
export function useLiveRequests(
  status: Request["status"] | null,
  load: (cursor: string | undefined) => Promise<Page<Request>>,
): Pages<Request> {
  const pages = usePages(load, [status]);
  const latest = useRef(pages);
  latest.current = pages;
  const changed = useRef(new Set<string>());
  const gone = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>();

  async function update(): Promise<void> {
    const ids = changed.current;
    changed.current = new Set();
    const belongs = (request: Request) => status === null || request.status === status;
    const reads = { page: load, request: readRequest, belongs };
    // A failed look loses nothing: the rows stay as they were, and the next event reads them again.
    const done = await latest.current.readAgain((shown) => readListAgain(shown, ids, reads)).catch(() => null);
    const unread = done === true ? [] : latest.current.items.filter(({ request_id: id }) => ids.has(id));
    for (const { request_id: id } of unread) changed.current.add(id);
    timer.current = undefined;
    // What came meanwhile, or while a further page was on its way.
    if (done === false || (done === true && changed.current.size > 0)) plan();
  }

  function plan(): void {
    if (gone.current) return;
    timer.current ??= setTimeout(() => void update(), GATHER_MS);
  }

  useLive((event) => {
    changed.current.add(event.request_id);
    plan();
  });
  useAgain(
    pages.items.some(({ waiting_for: reason }) => reason !== null),
    plan,
  );
  useEffect(
    () => () => {
      gone.current = true;
      clearTimeout(timer.current);
    },
    [],
  );
  return pages;
}

export function readRequest(id: string): Promise<Request> {
  return answerOf(client().GET("/v1/requests/{request_id}", { params: { path: { request_id: id } } }));
}
