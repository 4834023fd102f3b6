import type { Shape } from "../../client/client.ts";
import type { Outcome } from "./journal.ts";
import type { Run } from "./run.ts";

/** Milliseconds between two looks at a request that is not final. */
const LOOK = 1_000;
/** Milliseconds between two pages: the app's other calls share its rate limit. */
const BETWEEN_PAGES = 120;

/** So many more requests that are not of this drop end a search. */
const OTHER_REQUESTS = 300;

const NOT_KNOWN =
  "The service does not know this request, as after its restore from a backup. Look whether the collection has the token.";

/** Waits until every accepted request is final. */
export async function untilFinal(run: Run): Promise<void> {
  const { state, service, plan } = run;
  for (;;) {
    run.show("final", state.in("final", "refused").length, plan.tokens.length);
    const [oldest] = state.in("accepted");
    if (oldest === undefined) return;
    const open = openRequests(run);
    const first = state.tokens[oldest];
    if (first?.is !== "accepted") throw new Error("the oldest open token is accepted");
    const request = await service.request(first.requestId);
    if (request === null) {
      await take(run, [{ token: oldest, status: "unknown", token_id: null, error: NOT_KNOWN }]);
      continue;
    }
    const found = [request];
    // Requests end in about the order in which they came, so the pages are worth reading only now.
    if (isFinal(request)) found.push(...(await recentMints(run, open)));
    const outcomes = found.flatMap((one) => {
      const token = open.get(one.request_id);
      if (token === undefined || !isFinal(one)) return [];
      open.delete(one.request_id);
      return [outcomeOf(token, one)];
    });
    if (outcomes.length === 0) {
      await service.wait(LOOK);
      continue;
    }
    await take(run, outcomes);
  }
}

async function take({ journal, state }: Run, outcomes: Outcome[]): Promise<void> {
  const entry = { entry: "outcomes" as const, outcomes };
  await journal.append(entry);
  state.apply(entry);
}

/** The tokens whose requests are not final, by request id. */
function openRequests({ state }: Run): Map<string, number> {
  return new Map(
    state.tokens.flatMap((token, index) => (token.is === "accepted" ? [[token.requestId, index] as const] : [])),
  );
}

/** Reads pages, newest first, until all open requests were seen, or the app's other requests are too many. */
async function recentMints({ service }: Run, open: ReadonlyMap<string, number>): Promise<Shape<"Request">[]> {
  const seen: Shape<"Request">[] = [];
  let cursor: string | null = null;
  let others = 0;
  do {
    const page = await service.mints(cursor);
    const own = page.requests.filter(({ request_id: id }) => open.has(id));
    seen.push(...own);
    others += page.requests.length - own.length;
    cursor = page.next;
    await service.wait(BETWEEN_PAGES);
  } while (cursor !== null && seen.length < open.size && others <= open.size + OTHER_REQUESTS);
  return seen;
}

function isFinal({ status }: Shape<"Request">): boolean {
  return status === "completed" || status === "failed";
}

function outcomeOf(token: number, request: Shape<"Request">): Outcome {
  const { status, nft_token_id: id, error_code: code, errors } = request;
  const details = (errors ?? []).map(({ field, message }) => `${field}: ${message}`);
  return {
    token,
    status: status === "completed" ? "completed" : "failed",
    token_id: id === null ? null : String(id),
    error: code === null ? null : [code, ...details].join(" "),
  };
}
