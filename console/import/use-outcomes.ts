import { useRef } from "preact/hooks";

import type { BulkMint } from "../../client/bulk.ts";
import type { BulkRequest } from "../../client/bulk-progress.ts";
import { sayProblem } from "../parts/toasts.tsx";
import { useLive } from "../service/live.ts";

/** Milliseconds in which events are gathered before the page shows them. */
const GATHER = 300;

/**
 * Writes the ends of requests into the progress: from events as they come, and from the list of requests.
 * @param mint the bulk mint of the run; null: the run has not begun
 * @returns asks for the results that no event has brought
 */
export function useOutcomes(mint: () => BulkMint | null): () => Promise<void> {
  // An event can come before the answer to the batch, so all of them are kept.
  const found = useRef<BulkRequest[]>([]);
  const timer = useRef<number | null>(null);
  const readList = async () => {
    await mint()?.settle(found.current);
    await mint()?.look();
  };
  useLive(({ type, request_id, nft_token_id }) => {
    if (type === "completed") {
      found.current.push({ request_id, status: type, nft_token_id: nft_token_id ?? null });
    } else if (type !== "error") {
      return;
    }
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      // An event has only a code. The list says why, as a sentence.
      const apply = type === "error" ? readList() : mint()?.settle(found.current);
      apply?.catch(sayProblem);
    }, GATHER);
  });
  return readList;
}
