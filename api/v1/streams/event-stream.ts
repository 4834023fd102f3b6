import type { Response } from "express";

import type { FeedEvent } from "../../store/outbox/feed.ts";
import type { Credential } from "../../commands/credential.ts";
import { writePosition } from "../schemas/events.ts";

/** Milliseconds after which a client reconnects when the connection is lost. */
const RETRY = 1_000;
/** Milliseconds over which clients spread when the service ends their streams together. */
const SPREAD = 2_000;

/** The headers of an event stream. Proxies must neither store, compress nor delay it. */
export const STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** What a stream belongs to, and where it begins. */
export interface StreamStart {
  appId: string;
  /** What the stream was opened with. It is checked again while the stream is open. */
  credential: Credential;
  /** Position in the app's feed of the last event that the client has. */
  after: number;
}

/** The events of a page as server-sent events, with the position of the last one. */
export interface StreamPage {
  bytes: Buffer;
  last: number;
}

/** One open stream. It holds no event: what a slow client has not taken stays in the database. */
export class EventStream {
  readonly appId: string;
  readonly credential: Credential;
  readonly #response: Response;
  #position: number;
  /** When something was sent last (monotonic clock). */
  #sentAt = performance.now();

  /** Sends the headers and the position at which the stream begins, so that a client that reconnects now misses nothing. */
  constructor(response: Response, { appId, credential, after }: StreamStart) {
    this.appId = appId;
    this.credential = credential;
    this.#response = response;
    this.#position = after;
    beginStream(response, after);
    response.write(`retry: ${RETRY.toString()}\nid: ${writePosition(after)}\n\n`);
  }

  /** Position in the feed up to which everything was sent. */
  get position(): number {
    return this.#position;
  }

  /** Whether the client has not taken yet what was sent. Nothing more is sent until then. */
  get isBlocked(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** Milliseconds since something was sent. */
  get quietFor(): number {
    return performance.now() - this.#sentAt;
  }

  /** @param complete everything up to this position is known to be sent with the page. */
  send({ bytes, last }: StreamPage, complete: number): void {
    this.#position = Math.max(this.#position, last, complete);
    if (bytes.length > 0) this.#write(bytes);
  }

  /** A comment, which clients ignore. It keeps the connection open, and shows when it is lost. */
  beat(): void {
    this.#write(": the stream is open\n\n");
  }

  /** Ends the stream. The client reconnects and continues where it was. */
  end(reason: string): void {
    // The end would wait behind what the client does not take.
    if (this.isBlocked) this.#response.destroy();
    else {
      const retry = RETRY + Math.floor(Math.random() * SPREAD);
      this.#response.end(`: ${reason}\nretry: ${retry.toString()}\n\n`);
    }
  }

  #write(content: Buffer | string): void {
    this.#sentAt = performance.now();
    this.#response.write(content);
  }
}

/** Sends the headers of a stream. @param after where it begins. */
export function beginStream(response: Response, after: number): void {
  // Libraries often drop an `id` without data, so the position is a header, too.
  response.writeHead(200, { ...STREAM_HEADERS, "Last-Event-ID": writePosition(after) });
}

/** Writes events as server-sent events. JSON has no line breaks. */
export function streamPage(events: readonly FeedEvent[]): StreamPage {
  const text = events.map(
    ({ position, body }) => `id: ${writePosition(position)}\nevent: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`,
  );
  return { bytes: Buffer.from(text.join("")), last: events.at(-1)?.position ?? 0 };
}
