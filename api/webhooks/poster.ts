import type { Dispatcher as Agent } from "undici";

/** What came of a call: the status of the answer, or why there is none. */
export type Answer = { status: number } | { error: unknown };

/** Thrown when the receiver did not answer in time. */
export class NoAnswerInTime extends Error {
  override readonly name = "NoAnswerInTime";
}

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Milliseconds that the receiver has to answer, connecting included. */
  timeout: number;
}

/** An answer's body is of no interest. One that is short and comes at once is read to its end, so that the connection can be used again. */
const LONGEST_BODY = 16_384;
/** Milliseconds from the status of an answer to the end of its body. */
const BODY_TIMEOUT = 1_000;

/**
 * Posts once, and resolves when the answer is complete, or when its connection is closed because its body is too long or too
 * slow. Redirects are not followed.
 */
export function post(agent: Agent, { url, headers, body, timeout }: Post): Promise<Answer> {
  return new Promise((resolve) => {
    let abort: ((reason: Error) => void) | null = null;
    let ended = false;
    let status: number | null = null;
    let received = 0;

    const end = (answer: Answer) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      resolve(answer);
    };
    /** The connection is closed too, because the rest of the answer would still come on it. */
    const giveUp = (reason: Error) => {
      if (ended) return;
      end(status === null ? { error: reason } : { status });
      abort?.(reason);
    };
    let timer = setTimeout(() => {
      giveUp(new NoAnswerInTime());
    }, timeout);

    try {
      agent.dispatch(
        { ...callTo(url), headers, body },
        {
          onRequestStart: (controller) => {
            abort = (reason) => {
              controller.abort(reason);
            };
            // It took too long to connect.
            if (ended) controller.abort(new NoAnswerInTime());
          },
          onResponseStart: (_controller, statusCode) => {
            // Such an answer comes before the final one.
            if (ended || statusCode < 200) return;
            status = statusCode;
            clearTimeout(timer);
            timer = setTimeout(() => {
              giveUp(new NoAnswerInTime());
            }, BODY_TIMEOUT);
          },
          onResponseData: (_controller, chunk) => {
            received += chunk.length;
            if (received > LONGEST_BODY) giveUp(new Error("the body of the answer is too long"));
          },
          onResponseEnd: () => {
            end(status === null ? { error: new Error("the answer has no status") } : { status });
          },
          onResponseError: (_controller, error) => {
            end(status === null ? { error } : { status });
          },
        },
      );
    } catch (error) {
      end({ error });
    }
  });
}

/** The time-outs of the agent are coarser than those above. */
function callTo(url: string) {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}`, method: "POST", headersTimeout: 0, bodyTimeout: 0 } as const;
}
