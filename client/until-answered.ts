import { ConnectionFailed, refusalOf } from "./errors.ts";
import { pause } from "./pause.ts";
import { growingWait, isBusy, retryAfterOf } from "./retries.ts";

/** What a call of the client resolves to. */
export interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

export interface Persistence {
  /** Milliseconds without a useful answer, after which it gives up. */
  patience: number;
  /** How often the call is repeated at most. Default: as often as the patience allows. */
  maxRetries?: number;
  /** Ends the waiting. */
  signal: AbortSignal;
  /** Called before a wait. @param reason why the call is repeated */
  onWait?: (wait: number, reason: string) => void;
}

/**
 * Makes the same call until a service that is busy or restarts answers it. For work that takes longer than a caller wants to
 * wait for a single call.
 * @param send one try, without retries of its own
 * @throws ApiRefusal, ConnectionFailed, or the signal's reason
 */
export async function untilAnswered<T>(
  send: () => Promise<Answer<T>>,
  { patience, maxRetries = Infinity, signal, onWait }: Persistence,
): Promise<T> {
  const since = performance.now();
  for (let tries = 0; ; tries++) {
    let wait = growingWait(tries);
    let problem: Error;
    try {
      const { data, error, response } = await send();
      if (data !== undefined) return data;
      problem = refusalOf(response, error);
      if (!isBusy(response)) throw problem;
      wait = retryAfterOf(response) ?? wait;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ConnectionFailed)) throw error;
      problem = error;
    }
    if (tries >= maxRetries || performance.now() - since + wait > patience) throw problem;
    onWait?.(wait, problem.message);
    await pause(wait, signal);
  }
}
