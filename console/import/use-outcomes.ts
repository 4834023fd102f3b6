import { useRef } from "preact/hooks";

import { answerOf, type Shape } from "../../client/client.ts";
import { type FinalRequest, withOutcomes } from "../forms/csv/outcomes.ts";
import { type Progress, rowsIn } from "../forms/csv/progress.ts";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../service/client.ts";
import { useLive } from "../service/live.ts";

/** Milliseconds in which events are gathered before the page shows them. */
const GATHER = 300;
/** Requests of others on the pages, after which a search ends. */
const OTHERS = 300;

/** Writes the ends of requests into the progress: from events as they come, and from the list of requests. */
export function useOutcomes(
  latest: { current: Progress | null },
  keep: (progress: Progress) => void,
): () => Promise<void> {
  // An event can come before the answer to the batch, so all of them are kept.
  const found = useRef<FinalRequest[]>([]);
  const timer = useRef<number | null>(null);
  const apply = () => {
    const now = latest.current;
    if (now === null) return;
    const next = withOutcomes(now, found.current);
    if (next !== now) keep(next);
  };
  const readList = async () => {
    apply();
    const open = openRequests(latest.current);
    if (open.size === 0) return;
    found.current.push(...(await finalRequests(open)));
    apply();
  };
  useLive(({ type, request_id, nft_token_id }) => {
    if (type === "completed") {
      found.current.push({ request_id, status: type, nft_token_id: nft_token_id ?? null, error_message: null });
    } else if (type !== "error") {
      return;
    }
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      apply();
      // An event has only a code. The list says why, as a sentence.
      if (type === "error") readList().catch(sayProblem);
    }, GATHER);
  });
  return readList;
}

function openRequests(progress: Progress | null): Set<string> {
  if (progress === null) return new Set();
  return new Set(
    rowsIn(progress, "accepted").flatMap((row) => {
      const state = progress.rows[row];
      return state?.is === "accepted" ? [state.requestId] : [];
    }),
  );
}

/** Reads the list of mints, newest first, until all were seen, or the app's other requests are too many. */
async function finalRequests(open: ReadonlySet<string>): Promise<FinalRequest[]> {
  const seen: Shape<"Request">[] = [];
  let others = 0;
  let cursor: string | null = null;
  do {
    const query = { type: "mint" as const, ...(cursor !== null && { cursor }) };
    const page: Shape<"RequestsPage"> = await answerOf(client().GET("/v1/requests", { params: { query } }));
    const own = page.requests.filter(({ request_id: id }) => open.has(id));
    seen.push(...own);
    others += page.requests.length - own.length;
    cursor = page.next;
  } while (cursor !== null && seen.length < open.size && others <= open.size + OTHERS);
  return seen;
}
