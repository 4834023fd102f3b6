import { createParser } from "eventsource-parser";

/** An event as it came in a stream. */
interface StreamedEvent {
  id: string;
  type: string;
  body: { id: string; request_id: string; type: string };
}

const TIMEOUT = 240_000;

/** Reads an event stream as a client does, over HTTP. */
export class EventReader {
  readonly headers: Headers;
  readonly events: StreamedEvent[] = [];
  readonly comments: string[] = [];
  /** Every wait that the service asked for, in milliseconds. */
  readonly retries: number[] = [];
  /** All that came, as text. */
  text = "";
  /** Resolves when the service has ended the stream: false when the connection was lost. */
  readonly ended: Promise<boolean>;
  readonly #abort: AbortController;
  #changed: (() => void)[] = [];

  private constructor(response: Response, abort: AbortController) {
    this.headers = response.headers;
    this.#abort = abort;
    this.ended = this.#read(response);
  }

  /** @param token null: `headers` say who calls. @throws when the service refuses the stream. */
  static async open(url: string, token: string | null, headers: Record<string, string> = {}): Promise<EventReader> {
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        accept: "text/event-stream",
        ...headers,
      },
      signal: abort.signal,
    });
    if (response.status !== 200) throw new Error(`${response.status.toString()} ${await response.text()}`);
    return new EventReader(response, abort);
  }

  /** The position at which to continue: that of the last event, else the one at which the stream began. */
  get position(): string {
    return this.events.at(-1)?.id ?? this.headers.get("last-event-id") ?? "";
  }

  /** Waits until this many events came in all. @throws when they do not come in time. */
  async first(count: number): Promise<StreamedEvent[]> {
    await this.until(() => this.events.length >= count, `${count.toString()} events`);
    return this.events.slice(0, count);
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    const deadline = AbortSignal.timeout(TIMEOUT);
    while (!condition()) {
      if (deadline.aborted) throw new Error(`${what} did not come; so far:\n${this.text.slice(-2_000)}`);
      await new Promise<void>((resolve) => {
        this.#changed.push(resolve);
        deadline.addEventListener("abort", () => {
          resolve();
        });
      });
    }
  }

  /** Closes the connection. */
  close(): void {
    this.#abort.abort();
  }

  async #read(response: Response): Promise<boolean> {
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        this.events.push({ id: id ?? "", type: event ?? "", body: JSON.parse(data) as StreamedEvent["body"] });
      },
      onComment: (comment) => {
        this.comments.push(comment);
      },
      onRetry: (milliseconds) => {
        this.retries.push(milliseconds);
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        const text = decoder.decode(chunk as Uint8Array, { stream: true });
        this.text += text;
        parser.feed(text);
        for (const wake of this.#changed.splice(0)) wake();
      }
      return true;
    } catch {
      return false;
    }
  }
}
