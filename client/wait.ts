import type { components } from "./document.ts";
import { ConnectionFailed, refusalOf, RequestFailed, RequestTimeout } from "./errors.ts";
import { pause } from "./pause.ts";
import { growingWait, isBusy, retryAfterOf } from "./retries.ts";

type Request = components["schemas"]["Request"];
type Integer = components["schemas"]["Integer"];
/** What a request does: "collection", "mint", "transfer", "burn", "metadata" or "freeze". */
export type RequestType = Request["type"];

/** Fields that a completed request of a type always has. */
interface Results {
  collection: { nft_collection: string; nft_token_id: null };
  mint: { nft_collection: string; nft_token_id: Integer };
  transfer: { nft_collection: string; nft_token_id: Integer };
  burn: { nft_collection: string; nft_token_id: Integer };
}

/**
 * A completed request. With the type it has the fields of that type: those of `CompletedRequest<"mint">` are never null.
 * Without one, `request.type` tells them apart.
 */
export type CompletedRequest<Type extends RequestType = RequestType> = {
  [One in Type]: Request & { type: One; status: "completed" } & (One extends keyof Results ? Results[One] : unknown);
}[Type];

/** How long and how often to ask whether a request is final. */
export interface WaitOptions {
  /** Longest wait, in milliseconds. Default: 120,000. */
  timeout?: number;
  /** Milliseconds between two polls. Default: 250. */
  interval?: number;
  /** Ends the waiting. The request goes on. */
  signal?: AbortSignal;
}

const TIMEOUT = 120_000;
const INTERVAL = 250;

interface Look {
  data?: Request;
  error?: unknown;
  response: Response;
}

/** @throws TypeError when the request has another type than the caller says. */
export function completedAs<Type extends RequestType>(request: Request, type: Type): CompletedRequest<Type> {
  if (request.type === type) return request as CompletedRequest<Type>;
  throw new TypeError(`Request ${request.request_id} has the type "${request.type}", not "${type}".`);
}

/** Polls until the request is final. @returns it, completed. @param maxRetries failed connections in a row after which it goes on. */
export async function finalRequest(
  requestId: string,
  look: () => Promise<Look>,
  { timeout = TIMEOUT, interval = INTERVAL, signal }: WaitOptions & { signal: AbortSignal },
  maxRetries: number,
): Promise<Request> {
  const deadline = performance.now() + timeout;
  let [broken, busy] = [0, 0];
  let waitingFor: string | null = null;
  for (;;) {
    let wait = interval;
    try {
      const { data, error, response } = await look();
      if (isBusy(response)) {
        broken = 0;
        wait = Math.max(interval, retryAfterOf(response) ?? growingWait(busy));
        busy += 1;
      } else {
        if (data === undefined) throw refusalOf(response, error);
        if (data.status === "completed") return data;
        if (data.status === "failed") throw new RequestFailed(data);
        [broken, busy] = [0, 0];
        // A service of an earlier version does not say it.
        waitingFor = data.waiting_for ?? null;
      }
    } catch (error) {
      if (!(error instanceof ConnectionFailed) || broken >= maxRetries) throw error;
      wait = growingWait(broken);
      broken += 1;
    }
    if (performance.now() + wait > deadline) throw new RequestTimeout(requestId, waitingFor);
    await pause(wait, signal);
  }
}
