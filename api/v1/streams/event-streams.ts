import { setImmediate as turn } from "node:timers/promises";

import type { Response } from "express";
import type { Logger } from "pino";

import type { Limits } from "../../config/limits.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { Metrics } from "../../shared/metrics.ts";
import { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import type { Db } from "../../store/db/sql.ts";
import { type FeedCursor, feedPages, newestPositions } from "../../store/outbox/feed.ts";
import { EventStream, streamPage, type StreamStart } from "./event-stream.ts";
import { stillValid } from "./still-valid.ts";

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
  /** A stream that is quiet for so long gets a comment: proxies close connections that seem idle. */
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
