import { createParser } from "eventsource-parser";

import type { components } from "./document.ts";
import { type ApiRefusal, ConnectionFailed, refusalOfText } from "./errors.ts";
import { orAborted, pause } from "./pause.ts";
import { growingWait, isBusy, retryAfterOf } from "./retries.ts";

type Schemas = components["schemas"];
/** Any event of the app, by its `type`. A `corrected` of a movement has `corrects`, the id of the event that it corrects. */
export type AppEvent = Schemas["Event"] | Schemas["TokenEvent"] | Schemas["TokenCorrection"] | Schemas["GapEvent"];
/** The types that `events` can name. */
export type EventName = AppEvent["type"];
/** The types of a stream that names none. */
export type DefaultEventName = "sent" | "completed" | "error" | "corrected";
type Typed<Event extends AppEvent, Name> = Event & { type: Name };
/** The events of a stream that names these types. Types of tokens bring `TokenCorrection`, too. */
export type EventOf<Name extends EventName> =
  | (Name extends Schemas["Event"]["type"] ? Typed<Schemas["Event"], Name> : never)
  | (Name extends Schemas["TokenEvent"]["type"]
      ? Typed<Schemas["TokenEvent"], Name> | Schemas["TokenCorrection"]
      : never)
  | (Name extends Schemas["GapEvent"]["type"] ? Schemas["GapEvent"] : never);

/** An event of the app, with its place in the feed. */
export interface StreamedEvent<Event extends AppEvent = EventOf<DefaultEventName>> {
  /** Store it to continue after this event: `client.events({ after: cursor })`. */
  cursor: string;
  /** As a webhook has it. Without `types`, `type` is "sent", "completed", "error" or "corrected". */
  event: Event;
}

/** Where a stream of events begins, and when a connection counts as lost. */
export interface EventsOptions<Name extends EventName = EventName> {
  /** Only events of these types. Default: "sent", "completed", "error" and "corrected", of requests. */
  types?: readonly Name[];
  /** The cursor of the last event that you have. `start` begins at the app's first event. Default: with the next event. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
  /** Milliseconds without a sign of the service, after which the connection counts as lost. Default: 60,000. */
  silence?: number;
  /** Called each time the connection is open. @param cursor where it continues */
  onOpen?: (cursor: string) => void;
  /** Called each time the connection is lost or refused for a while. @param wait milliseconds before the next try */
  onLost?: (error: unknown, wait: number) => void;
}

const SILENCE = 60_000;
/** Milliseconds before the next try when the service does not say. */
const RETRY = 1_000;
/** One call, without retries. */
type Open = (request: Request) => Promise<Response>;
/** The connection ended, and the service did not say why. */
const ENDED = "The service has ended the stream.";

/**
 * Reads the app's events as they are stored, for as long as the caller wants. Reconnects by itself and continues after the
 * last event that the caller took, so none is lost and none comes twice.
 * @throws ApiRefusal when the service refuses the stream for good, and the signal's reason when it aborts.
 */
export async function* streamEvents<Name extends EventName>(
  send: Open,
  { url: feed, headers }: { url: string; headers: Record<string, string> },
  { types, after, signal = new AbortController().signal, silence = SILENCE, onOpen, onLost }: EventsOptions<Name>,
): AsyncGenerator<StreamedEvent<EventOf<Name>>, never> {
  const url = types === undefined ? feed : `${feed}?types=${types.join(",")}`;
  let cursor = after;
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    let wait = RETRY;
    let problem: unknown;
    try {
      const connection = await connect(send, url, { headers, cursor, signal, silence });
      const { response, refusal } = connection;
      if (refusal === null) {
        checkStream(connection, url);
        cursor = response.headers.get("last-event-id") ?? cursor;
        if (cursor !== undefined) onOpen?.(cursor);
        for await (const found of eventsOf<EventOf<Name>>(connection)) {
          failures = 0;
          if ("retry" in found) wait = found.retry;
          else {
            yield found;
            cursor = found.cursor;
          }
        }
        problem = new Error(ENDED);
      } else {
        connection.close();
        if (!isBusy(response)) throw refusal;
        wait = retryAfterOf(response) ?? RETRY;
        problem = refusal;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ConnectionFailed)) throw error;
      problem = error;
    }
    wait = Math.max(wait, failures === 0 ? 0 : growingWait(failures - 1));
    failures += 1;
    onLost?.(problem, wait);
    await pause(wait, signal);
  }
}

interface Connection {
  response: Response;
  /** Why the service does not answer with a stream. */
  refusal: ApiRefusal | null;
  /** Reads on. Only then it counts how long nothing came: the caller may take its time. */
  read: () => Promise<Uint8Array | null>;
  close: () => void;
}

interface Place {
  headers: Record<string, string>;
  cursor: string | undefined;
  signal: AbortSignal;
  silence: number;
}

/** @throws ConnectionFailed */
async function connect(send: Open, url: string, { headers: own, cursor, signal, silence }: Place): Promise<Connection> {
  const end = new AbortController();
  const stop = () => {
    end.abort(signal.reason);
  };
  signal.addEventListener("abort", stop, { once: true });
  const within = async <T>(work: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => {
      end.abort(new DOMException(`Nothing came for ${silence.toString()} ms.`, "TimeoutError"));
    }, silence);
    try {
      const result = await orAborted(work, end.signal);
      // A read that `cancel` ends looks like the end of the stream.
      end.signal.throwIfAborted();
      return result;
    } finally {
      clearTimeout(timer);
    }
  };
  const close = () => {
    signal.removeEventListener("abort", stop);
    end.abort();
  };
  const headers = {
    ...own,
    Accept: "text/event-stream",
    ...(cursor === undefined ? {} : { "Last-Event-ID": cursor }),
  };
  try {
    const response = await within(send(new Request(url, { headers, cache: "no-store", signal: end.signal })));
    if (!response.ok) {
      const refusal = refusalOfText(response, await within(response.text()));
      return { response, refusal, read: () => Promise.resolve(null), close };
    }
    const reader = response.body?.getReader();
    end.signal.addEventListener("abort", () => {
      // This closes the connection. It rejects when the connection has already failed, which `read` reports.
      reader?.cancel(end.signal.reason).catch(() => undefined);
    });
    const read = async () => (reader === undefined ? null : ((await within(reader.read())).value ?? null));
    return { response, refusal: null, read, close };
  } catch (error) {
    close();
    throw error instanceof ConnectionFailed ? error : new ConnectionFailed(1, error);
  }
}

/** @throws Error when something else than the service answers, such as a page of a proxy. */
function checkStream({ response, close }: Connection, url: string): void {
  const type = response.headers.get("content-type");
  if (type?.toLowerCase().startsWith("text/event-stream") === true) return;
  close();
  throw new Error(
    `${url} answered ${response.status.toString()} with ${type ?? "no content type"} instead of text/event-stream. Check baseUrl, and any proxy in front of the service.`,
  );
}

/** Reads a connection to its end. What the caller does not take is not read. @throws ConnectionFailed */
async function* eventsOf<Event extends AppEvent>({
  read,
  close,
}: Connection): AsyncGenerator<StreamedEvent<Event> | { retry: number }> {
  const found: (StreamedEvent<Event> | { retry: number })[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (id !== undefined) found.push({ cursor: id, event: JSON.parse(data) as Event });
    },
    onRetry: (retry) => {
      found.push({ retry });
    },
  });
  const decoder = new TextDecoder();
  try {
    for (let chunk = await read(); chunk !== null; chunk = await read()) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* found.splice(0);
    }
  } catch (error) {
    throw new ConnectionFailed(1, error);
  } finally {
    close();
  }
}
