import type { Order } from "../service/order.ts";
import type { Request } from "./request-state.ts";

/** What the list shows. null: every request. */
export type StatusFilter = Request["status"] | null;

/**
 * The list after events: requests that changed are replaced, new ones come first, or last where the oldest come first, and those
 * that no longer match the filter are gone.
 * @param first the first page, read again
 * @param others requests below it that changed, read again
 */
export function mergeRequests(
  shown: readonly Request[],
  first: readonly Request[],
  others: readonly Request[],
  filter: StatusFilter,
  order: Order = "newest",
): Request[] {
  const fresh = new Map([...others, ...first].map((request) => [request.request_id, request]));
  const known = new Set(shown.map((request) => request.request_id));
  const added = first.filter((request) => !known.has(request.request_id));
  const kept = shown.map((request) => fresh.get(request.request_id) ?? request);
  return (order === "newest" ? [...added, ...kept] : [...kept, ...added]).filter(
    (request) => filter === null || request.status === filter,
  );
}

/** The requests of the list that changed and are not on the page that is read again anyway. */
export function toReadAgain(
  shown: readonly Request[],
  first: readonly Request[],
  changed: ReadonlySet<string>,
): string[] {
  const read = new Set(first.map((request) => request.request_id));
  return shown.map((request) => request.request_id).filter((id) => changed.has(id) && !read.has(id));
}
