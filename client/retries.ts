import { IDEMPOTENT_CALLS } from "./document.ts";
import { ConnectionFailed } from "./errors.ts";
import { orAborted, pause } from "./pause.ts";
import { randomKey } from "./rules/random-key.ts";

/** @param init has the signal again: `fetch` follows this one, but that of the request only until a garbage collection. */
export type Send = (request: Request, init: { signal: AbortSignal }) => Promise<Response>;

export interface RetryOptions {
  /** How often a call is repeated at most. 0 also adds no `Idempotency-Key`. */
  maxRetries: number;
  /** Longest time for one try, in milliseconds. */
  timeout: number;
}

const KEY = "Idempotency-Key";
/** Calls that change nothing. A second PUT or DELETE changes nothing either, but its answer differs from the first one. */
const REPEATABLE_METHODS = ["GET", "HEAD", "OPTIONS"];
/** Rate limited. The service did nothing, so any call can be repeated. */
const RATE_LIMITED = 429;
/** Rate limited or unavailable; or a proxy did not reach the service, or lost its answer. */
const BUSY = [RATE_LIMITED, 502, 503, 504];
/** Milliseconds before the first repetition. The wait doubles with each further one. */
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8_000;
/** Milliseconds. If `Retry-After` asks for more, the caller gets the answer instead. */
const LONGEST_RETRY_AFTER = 60_000;

const idempotentPaths = IDEMPOTENT_CALLS.map((call) => {
  const [method, path] = call.split(" ") as [string, string];
  // The service may be under a prefix of a proxy.
  return { method, path: new RegExp(`${path.replace(/\{[^}]*\}/g, "[^/]+")}$`) };
});

/** Whether the service knows repetitions of this call by their `Idempotency-Key`. */
function takesKey(request: Request): boolean {
  const { pathname } = new URL(request.url);
  return idempotentPaths.some(({ method, path }) => method === request.method && path.test(pathname));
}

/** Gives a call that creates something a key, and repeats what can be repeated safely. */
export function withRetries(
  send: Send,
  { maxRetries, timeout }: RetryOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const keyed = takesKey(request);
    if (keyed && maxRetries > 0 && !request.headers.has(KEY)) request.headers.set(KEY, randomKey());
    const repeatable = REPEATABLE_METHODS.includes(request.method) || (keyed && request.headers.has(KEY));
    const { signal } = request;
    return repeated((last) => once(send, last ? request : request.clone(), { timeout, signal }), {
      repeatable,
      maxRetries,
      signal,
    });
  };
}

export interface Repetition {
  /** Whether the call may run twice. */
  repeatable: boolean;
  maxRetries: number;
  /** Ends the waiting. */
  signal: AbortSignal;
}

/** Makes the same call until it is answered. @param send is told whether this is the last try. */
export async function repeated(
  send: (last: boolean) => Promise<Response>,
  { repeatable, maxRetries, signal }: Repetition,
): Promise<Response> {
  for (let retry = 0; ; retry++) {
    const last = retry >= maxRetries;
    let wait: number | null;
    try {
      const response = await send(last);
      const again = response.status === RATE_LIMITED || (repeatable && isBusy(response));
      wait = again ? waitOf(response, retry) : null;
      if (wait === null || last) return response;
      await response.body?.cancel();
    } catch (error) {
      signal.throwIfAborted();
      if (!repeatable || last) throw new ConnectionFailed(retry + 1, error);
      wait = growingWait(retry);
    }
    await pause(wait, signal);
  }
}

/** One try, which ends with a `TimeoutError` when it takes too long. @param signal of this call alone: it keeps a listener. */
export async function once(
  send: Send,
  request: Request,
  { timeout, signal }: { timeout: number; signal: AbortSignal },
): Promise<Response> {
  const end = new AbortController();
  const timer = setTimeout(() => {
    end.abort(new DOMException(`No answer within ${timeout.toString()} ms.`, "TimeoutError"));
  }, timeout);
  const stop = () => {
    end.abort(signal.reason);
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    // A `fetch` of the caller may read only the request.
    const sent = send(new Request(request, { signal: end.signal }), { signal: end.signal });
    return await orAborted(sent.then(whole), end.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a JSON answer to its end, so that a connection that breaks in the middle counts as broken. */
async function whole(response: Response): Promise<Response> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  if (!isJson || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

export function isBusy({ status }: { status: number }): boolean {
  return BUSY.includes(status);
}

/** Milliseconds to wait after a busy answer, or null when that is too long. */
function waitOf(response: Response, retry: number): number | null {
  const asked = retryAfterOf(response);
  if (asked === null) return growingWait(retry);
  return asked <= LONGEST_RETRY_AFTER ? asked : null;
}

/** Milliseconds, from seconds or from a date. null when the header is absent or malformed. */
export function retryAfterOf(response: Response): number | null {
  const header = response.headers.get("retry-after");
  if (header === null) return null;
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

/** @returns between half and all of a time that doubles, so that many clients do not come back at the same moment. */
export function growingWait(retry: number, random: number = Math.random()): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** retry) * (0.5 + random / 2);
}
