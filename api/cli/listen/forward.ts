import type { StreamedEvent } from "../../client/events.ts";
import { signatureHeaders, signingKey } from "../../keys/webhook-secrets.ts";
import { pause } from "../../shared/pause.ts";
import type { Terminal } from "../terminal.ts";

export interface Receiver {
  url: string;
  secret: string;
}

/** All in milliseconds. How long the receiver has to answer, as for webhooks. */
const TIMEOUT = 15_000;
/** The wait while nothing listens at the URL. It doubles with each try. */
const WAIT = { first: 500, longest: 5_000 };

/**
 * Sends an event to the receiver as the service sends webhooks. While nothing listens there, waits and tries again: the
 * event is not lost, and later ones do not overtake it. @returns a sentence on what the receiver did; null on abort.
 */
export async function forward(
  terminal: Pick<Terminal, "remark">,
  { url, secret }: Receiver,
  { event }: StreamedEvent,
  abort: AbortSignal,
): Promise<string | null> {
  const payload = JSON.stringify(event);
  const key = signingKey({ secret, expires_at: null });
  for (let tries = 0; ; tries++) {
    if (abort.aborted) return null;
    const started = performance.now();
    const took = () => `${Math.round(performance.now() - started).toString()} ms`;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...signatureHeaders([key], { id: event.id, at: Date.now(), payload }),
          "content-type": "application/json",
          "user-agent": "moneta",
        },
        body: payload,
        redirect: "manual",
        signal: AbortSignal.any([abort, AbortSignal.timeout(TIMEOUT)]),
      });
      const answer = `${response.status.toString()} in ${took()}`;
      // Only the status counts, so the answer need not arrive as a whole.
      await response.body?.cancel().catch(() => undefined);
      return answer;
    } catch (error) {
      if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${took()}`;
      if (aborted(abort)) return null;
      if (tries === 0) terminal.remark?.(`${url} cannot be reached (${reasonOf(error)}). Waiting for it.\n`);
      await pause(Math.min(WAIT.longest, WAIT.first * 2 ** tries), abort);
    }
  }
}

/** A function, because the type checker assumes that a signal stays as it was. */
function aborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function reasonOf(error: unknown): string {
  // `fetch` puts the network's error into `cause`.
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
