import { setImmediate as turn } from "node:timers/promises";

import type { Response } from "express";
import type { Logger } from "pino";

import { type Credential, validCredentials } from "../../commands/credential.ts";
import type { Limits } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { Metrics } from "../../shared/metrics.ts";
import { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import { findAppsById } from "../../store/apps/apps.ts";
import type { Db } from "../../store/db/sql.ts";
import { type FeedCursor, type FeedEvent, feedPages, newestPositions } from "../../store/outbox/feed.ts";
import { writePosition } from "../schemas/events.ts";

export interface EventStreamsDeps {
  read: Db;
  /** Raised in this process when events were stored. */
  stored: Pick<Signal, "listen">;
  limits: Pick<Limits, "eventStreams" | "appEventStreams">;
  logger: Logger;
  metrics: Pick<Metrics, "streams" | "streamed">;
  /** Replaced in tests. */
  times?: Partial<StreamTimes>;
}

/** All in milliseconds. */
export interface StreamTimes {
  /** How often to look for events of other processes. */
  poll: number;
  /** How often the tokens and sessions of the streams are checked. */
  checkTokens: number;
  /** A stream that is quiet for this long gets a comment: proxies close connections that seem idle. */
  heartbeat: number;
}

const TIMES: StreamTimes = { poll: 250, checkTokens: 500, heartbeat: 15_000 };
/** Most events of a page. It bounds what a client that reads slowly holds in memory. */
const PAGE = 64;
/** Places in feeds that one statement reads pages of. */
const CURSORS = 16;
/** `Retry-After` in seconds when there is no room for a stream, and while the service stops. */
const RETRY_AFTER = { full: 30, stopping: 5 };

/**
 * The event streams of this process. One loop serves all of them: one statement finds the apps that have new events, and
 * streams at the same place share what is read. So streams without news cost almost nothing.
 */
export class EventStreams {
  readonly #deps: EventStreamsDeps;
  readonly #times: StreamTimes;
  readonly #streams = new Set<EventStream>();
  readonly #wake = new Signal();
  readonly #loop: WorkLoop;
  #checkedAt = performance.now();
  #stopping = false;

  constructor(deps: EventStreamsDeps) {
    this.#deps = deps;
    this.#times = { ...TIMES, ...deps.times };
    deps.stored.listen(() => {
      this.#wake.raise();
    });
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: this.#wake,
      pollInterval: this.#times.poll,
      messages: {
        failed: "event streams cannot be served; retrying",
        recovered: "event streams are served again",
      },
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  run(abort: AbortSignal): Promise<void> {
    return this.#loop.run(() => this.#step(), abort);
  }

  /** Opens a stream as the answer of a call. @throws ApiError `rate_limited`, `unavailable` */
  open(response: Response, start: StreamStart): void {
    this.#refuseIfFull(start.appId);
    // The client may be gone already.
    if (response.destroyed) return;
    const stream = new EventStream(response, start);
    this.#streams.add(stream);
    const { socket } = response.req;
    const closed = () => {
      this.#remove(stream);
      response.off("close", closed);
      socket.off("close", closed);
    };
    response.once("close", closed);
    // An answer that still waits for an earlier one on its connection may have no `close` of its own.
    socket.once("close", closed);
    response.on("drain", () => {
      this.#wake.raise();
    });
    this.#deps.metrics.streams(this.#streams.size);
    this.#wake.raise();
  }

  /** Ends all streams, and opens no more: the service stops. */
  end(): void {
    this.#stopping = true;
    for (const stream of this.#streams) this.#end(stream, "the service stops; reconnect");
  }

  /** Nothing may be sent to a stream that has ended. */
  #end(stream: EventStream, reason: string): void {
    this.#remove(stream);
    stream.end(reason);
  }

  #remove(stream: EventStream): void {
    this.#streams.delete(stream);
    this.#deps.metrics.streams(this.#streams.size);
  }

  #refuseIfFull(appId: string): void {
    const { eventStreams, appEventStreams } = this.#deps.limits;
    if (this.#stopping) throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER.stopping });
    const retryAfter = RETRY_AFTER.full;
    if (this.#ofApp(appId) >= appEventStreams) {
      const message = `The app has ${appEventStreams.toString()} event streams open, as many as it may. Close one, or ask the operator to raise MAX_APP_EVENT_STREAMS.`;
      throw new ApiError("rate_limited", null, { retryAfter, message });
    }
    if (this.#streams.size >= eventStreams) {
      const message =
        "The service has as many event streams open as it may. Try again later, or read the feed as JSON meanwhile.";
      throw new ApiError("unavailable", null, { retryAfter, message });
    }
  }

  #ofApp(appId: string): number {
    let count = 0;
    for (const stream of this.#streams) if (stream.appId === appId) count += 1;
    return count;
  }

  async #step(): Promise<StepResult> {
    if (this.#streams.size === 0) return "idle";
    this.#keepOpen();
    await this.#checkCallers();
    const behind = await this.#behind();
    const groups = [...Map.groupBy(behind, ({ stream }) => `${stream.position.toString()} ${stream.appId}`).values()];
    for (let first = 0; first < groups.length; first += CURSORS) {
      await this.#sendPages(groups.slice(first, first + CURSORS));
      // Between pages, other calls are served, and clients take what was sent.
      await turn();
    }
    return behind.length === 0 ? "idle" : "again";
  }

  #keepOpen(): void {
    // A stream whose client takes nothing is closed by `UnreadAnswers`.
    for (const stream of this.#streams) {
      if (!stream.isBlocked && stream.quietFor > this.#times.heartbeat) stream.beat();
    }
  }

  /** Ends the streams whose token or session was revoked or has expired, or whose app was removed. */
  async #checkCallers(): Promise<void> {
    if (performance.now() - this.#checkedAt < this.#times.checkTokens) return;
    const streams = [...this.#streams];
    const valid = await stillValid(this.#deps.read, streams, Date.now());
    for (const [index, stream] of streams.entries()) {
      if (valid[index] !== true) this.#end(stream, "the token or session is not valid any more");
    }
    this.#checkedAt = performance.now();
  }

  /** The streams whose clients can take more, and whose apps have newer events. */
  async #behind(): Promise<Behind[]> {
    const ready = [...this.#streams].filter((stream) => !stream.isBlocked);
    if (ready.length === 0) return [];
    const newest = await newestPositions(
      this.#deps.read,
      ready.map(({ appId }) => appId),
    );
    return ready
      .map((stream, index) => ({ stream, newest: newest[index] ?? 0 }))
      .filter(({ stream, newest }) => stream.position < newest);
  }

  /** @param groups streams that are at the same place of the same feed. */
  async #sendPages(groups: readonly Behind[][]): Promise<void> {
    const cursors = groups.flatMap(([first]): FeedCursor[] =>
      first === undefined ? [] : [{ appId: first.stream.appId, after: first.stream.position }],
    );
    const pages = await feedPages(this.#deps.read, cursors, PAGE);
    for (const [index, events] of pages.entries()) {
      const page = streamPage(events);
      for (const { stream, newest } of groups[index] ?? []) {
        if (!this.#streams.has(stream)) continue;
        // A position may have no event. After a page that is not full, nothing up to the newest position is missing.
        stream.send(page, events.length < PAGE ? newest : 0);
        if (events.length > 0) this.#deps.metrics.streamed(events.length);
      }
    }
  }
}

/** A stream that lacks events, and the newest position of its feed. */
interface Behind {
  stream: EventStream;
  newest: number;
}

type Opened = Pick<EventStream, "appId" | "credential">;

/** Whether each stream may stay open: its token or session is valid, and its app exists. */
async function stillValid(read: Db, streams: readonly Opened[], now: number): Promise<boolean[]> {
  const credentials = streams.map(({ credential }) => credential);
  const valid = await validCredentials(read, credentials, now);
  if (credentials.every(({ kind }) => kind === "token")) return credentials.map(({ hash }) => valid.has(hash));
  // The operator's session outlives an app that is removed. Tokens are removed with their app.
  const apps = await findAppsById(
    read,
    streams.map(({ appId }) => appId),
  );
  return credentials.map(({ hash }, index) => valid.has(hash) && apps[index] !== undefined);
}

/** Milliseconds after which a client reconnects when the connection is lost. */
const RETRY = 1_000;
/** Milliseconds over which clients spread when the service ends their streams together. */
const SPREAD = 2_000;

/** The headers of an event stream. Proxies must neither store, compress nor delay it. */
const STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** What a stream belongs to, and where it begins. */
interface StreamStart {
  appId: string;
  /** What the stream was opened with. It is checked again while the stream is open. */
  credential: Credential;
  /** Position in the app's feed of the last event that the client has. */
  after: number;
}

/** The events of a page as server-sent events, with the position of the last one. */
interface StreamPage {
  bytes: Buffer;
  last: number;
}

/** One open stream. It holds no event: what a slow client has not taken stays in the database. */
class EventStream {
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
