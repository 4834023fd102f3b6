import { setImmediate as turn } from "node:timers/promises";

import type { Response } from "express";
import type { Logger } from "pino";

import { type Credential, validCredentials } from "../../commands/credential.ts";
import type { Limits } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { NamedEvent } from "../../domain/events.ts";
import type { Metrics } from "../../shared/metrics.ts";
import { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import { findAppsById } from "../../store/apps/apps.ts";
import type { Db } from "../../store/db/sql.ts";
import { type FeedEvent, feedPages, newestPositions } from "../../store/outbox/feed.ts";
import type { HeldBytes } from "../held-bytes.ts";
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
/** A page has at most this many events. It bounds what a client that reads slowly holds in memory. */
const PAGE = 64;
/** Places in feeds that one statement reads pages of. */
const CURSORS = 16;
/** `Retry-After` in seconds when there is no room for a stream, and while the service stops. */
const RETRY_AFTER = { full: 30, stopping: 5 };
/** Milliseconds after which a client reconnects, and over which clients spread when the service ends their streams together. */
const RETRY = { after: 1_000, spread: 2_000 };

/** What a stream belongs to, and where it begins. */
interface StreamStart {
  appId: string;
  /** What the stream was opened with. It is checked again while the stream is open. */
  credential: Credential;
  /** Position in the app's feed of the last event that the client has. */
  after: number;
  /** What the client wants to have; undefined: `DEFAULT_EVENTS`. */
  types: readonly NamedEvent[] | undefined;
  /** Counts what the client has not taken yet. */
  bytes: Pick<HeldBytes, "fits" | "add">;
}

/** One open stream. It holds no event: what a slow client has not taken stays in the database. */
interface EventStream extends Pick<StreamStart, "appId" | "credential" | "types" | "bytes"> {
  response: Response;
  /** Position in the feed up to which everything was sent. */
  position: number;
  /** When something was sent last (monotonic clock). */
  sentAt: number;
  /** Gives back the bytes that the client had not taken: it has taken them, or is gone. */
  taken: () => void;
}

/**
 * The event streams of this process. One loop serves all of them: one statement finds the apps that have new events, and
 * streams at the same place that want the same types share what is read. So streams without news cost almost nothing.
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
      this.#wake.notify();
    });
    const messages = {
      failed: "event streams cannot be served; retrying",
      recovered: "event streams are served again",
    };
    this.#loop = new WorkLoop({ logger: deps.logger, wake: this.#wake, pollInterval: this.#times.poll, messages });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  run(abort: AbortSignal): Promise<void> {
    return this.#loop.run(() => this.#step(), abort);
  }

  /** Opens a stream as the answer of a call. @throws ApiError `rate_limited`, `unavailable` */
  open(response: Response, { appId, credential, after, types, bytes }: StreamStart): void {
    this.#refuseIfFull(appId);
    // The client may be gone already.
    if (response.destroyed) return;
    beginStream(response, after);
    // The position at which the stream begins: a client that reconnects now misses nothing.
    response.write(`retry: ${RETRY.after.toString()}\nid: ${writePosition(after)}\n\n`);
    const stream: EventStream = {
      ...{ appId, credential, types, bytes, response, position: after },
      sentAt: performance.now(),
      taken: () => undefined,
    };
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
      stream.taken();
      this.#wake.notify();
    });
    this.#deps.metrics.streams(this.#streams.size);
    this.#wake.notify();
  }

  /** Ends all streams, and opens no more: the service stops. */
  end(): void {
    this.#stopping = true;
    for (const stream of this.#streams) this.#end(stream, "the service stops; reconnect");
  }

  /** Ends a stream. The client reconnects and continues where it was. */
  #end(stream: EventStream, reason: string): void {
    this.#remove(stream);
    const { response } = stream;
    const retry = RETRY.after + Math.floor(Math.random() * RETRY.spread);
    // The end would wait behind what the client does not take.
    if (response.writableNeedDrain) response.destroy();
    else response.end(`: ${reason}\nretry: ${retry.toString()}\n\n`);
  }

  #remove(stream: EventStream): void {
    this.#streams.delete(stream);
    stream.taken();
    this.#deps.metrics.streams(this.#streams.size);
  }

  #refuseIfFull(appId: string): void {
    const { eventStreams, appEventStreams } = this.#deps.limits;
    if (this.#stopping) throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER.stopping });
    const retryAfter = RETRY_AFTER.full;
    if ([...this.#streams].filter((stream) => stream.appId === appId).length >= appEventStreams) {
      const message = `The app has ${appEventStreams.toString()} event streams open, as many as it may. Close one first.`;
      throw new ApiError("rate_limited", null, { retryAfter, message });
    }
    if (this.#streams.size >= eventStreams) {
      const message =
        "The service has as many event streams open as it may. Try again later, or read the feed as JSON meanwhile.";
      throw new ApiError("unavailable", null, { retryAfter, message });
    }
  }

  async #step(): Promise<StepResult> {
    if (this.#streams.size === 0) return "idle";
    await this.#checkCallers();
    // Nothing more is sent to a client that has not taken what was sent. If it takes nothing, the server closes the connection.
    const ready = [...this.#streams].filter(({ response }) => !response.writableNeedDrain);
    for (const stream of ready) {
      // Clients ignore a comment. It keeps the connection open, and shows when it is lost.
      if (performance.now() - stream.sentAt > this.#times.heartbeat) write(stream, ": the stream is open\n\n");
    }
    if (ready.length === 0) return "idle";
    const newest = await newestPositions(
      this.#deps.read,
      ready.map(({ appId }) => appId),
    );
    const behind = ready.flatMap((stream, index) => {
      const last = newest[index] ?? 0;
      return stream.position < last ? [{ stream, newest: last }] : [];
    });
    const places = [...Map.groupBy(behind, ({ stream }) => placeOf(stream)).values()];
    for (let first = 0; first < places.length; first += CURSORS) {
      await this.#sendPages(places.slice(first, first + CURSORS));
      // Between pages, other calls are served, and clients take what was sent.
      await turn();
    }
    return behind.length === 0 ? "idle" : "again";
  }

  /** Ends the streams whose token or session was revoked or has expired, or whose app was removed. */
  async #checkCallers(): Promise<void> {
    if (performance.now() - this.#checkedAt < this.#times.checkTokens) return;
    const [{ read }, streams] = [this.#deps, [...this.#streams]];
    const credentials = streams.map(({ credential }) => credential);
    const valid = await validCredentials(read, credentials, Date.now());
    // The operator's session outlives an app that is removed. Tokens are removed with their app.
    const apps = credentials.some(({ kind }) => kind !== "token")
      ? await findAppsById(
          read,
          streams.map(({ appId }) => appId),
        )
      : null;
    for (const [index, stream] of streams.entries()) {
      if (valid.has(stream.credential.hash) && (apps === null || apps[index] !== undefined)) continue;
      this.#end(stream, "the token or session is not valid any more");
    }
    this.#checkedAt = performance.now();
  }

  /** @param places streams that are at the same place of the same feed, each with the newest position of the feed. */
  async #sendPages(places: readonly { stream: EventStream; newest: number }[][]): Promise<void> {
    const cursors = places.map(([first]) => ({
      appId: first?.stream.appId ?? "",
      after: first?.stream.position ?? 0,
      types: first?.stream.types,
    }));
    const pages = await feedPages(this.#deps.read, cursors, PAGE);
    for (const [index, events] of pages.entries()) {
      const bytes = streamPage(events);
      const last = events.at(-1)?.position ?? 0;
      for (const { stream, newest } of places[index] ?? []) {
        if (!this.#streams.has(stream)) continue;
        if (!stream.bytes.fits(stream.response.req, stream, bytes.length)) {
          this.#end(stream, "the app reads too slowly; reconnect");
          continue;
        }
        // A position may have no event. After a page that is not full, nothing up to the newest position is missing.
        stream.position = Math.max(stream.position, last, events.length < PAGE ? newest : 0);
        if (events.length === 0) continue;
        write(stream, bytes);
        this.#deps.metrics.streamed(events.length);
      }
    }
  }
}

/** Streams at the same place, which want the same types, share pages. */
function placeOf({ position, appId, types = [] }: EventStream): string {
  return [position, appId, ...types].join(" ");
}

function write(stream: EventStream, content: Buffer | string): void {
  stream.sentAt = performance.now();
  if (stream.response.write(content)) return;
  stream.taken();
  stream.taken = stream.bytes.add(stream.response.req, stream, content.length);
}

/** Sends the headers of a stream. Proxies must neither store, compress nor delay it. @param after where it begins. */
export function beginStream(response: Response, after: number): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    // Libraries often drop an `id` without data, so the position is a header, too.
    "Last-Event-ID": writePosition(after),
  });
}

/** Writes events as server-sent events. JSON has no line breaks. */
export function streamPage(events: readonly FeedEvent[]): Buffer {
  const text = events.map(
    ({ position, body }) => `id: ${writePosition(position)}\nevent: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`,
  );
  return Buffer.from(text.join(""));
}
