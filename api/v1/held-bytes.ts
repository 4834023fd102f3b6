import { ServerResponse } from "node:http";

import type { Request, RequestHandler, Response } from "express";

import { ANSWER_PACE, type AnswerPace, type Limits } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { CallValue } from "./call-value.ts";
import { callerAddress } from "./rate-limit.ts";

/** `Retry-After` in seconds while a caller holds too much. */
const RETRY_AFTER = 5;
/** Milliseconds between two checks for answers that nobody reads. */
const SWEEP = 1_000;

/** Bytes, in all and by who holds them. */
class Account {
  readonly #byHolder = new Map<string, number>();
  total = 0;

  of(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /** @param bytes negative: they are given back. */
  add(holders: readonly string[], bytes: number): void {
    this.total += bytes;
    for (const holder of holders) {
      const held = this.of(holder) + bytes;
      if (held === 0) this.#byHolder.delete(holder);
      else this.#byHolder.set(holder, held);
    }
  }
}

/**
 * An answer of up to this many bytes closes no other connection. Otherwise a refusal, or the answer of a health check, would cut
 * off what the caller reads. The number of connections bounds such answers.
 */
const SMALL = 4_096;

/** An answer that was given to a connection. */
interface Answer {
  response: Response;
  /** Its address, and its app once that is known. */
  holders: string[];
  /** Bytes that the operating system has not taken yet. */
  bytes: number;
  /** Whether its end is watched. Most answers have no unread bytes at any time. */
  isWatched: boolean;
  /** When the connection is closed unless the caller reads on (monotonic clock, milliseconds). */
  due: number;
}

/**
 * The bytes of answers that their callers have not read, of every route. They are counted for each address, for each app and in
 * all. A caller that holds too many gets no further answer until it reads; answers that were in the making close the connections
 * of this caller that have waited longest. If all callers together hold too many, the connections that have waited longest of all
 * are closed. An answer that its caller does not read closes its connection.
 */
export class UnreadAnswers {
  readonly #limits: Pick<Limits, "unreadBytes" | "callerUnreadBytes">;
  readonly #pace: AnswerPace;
  readonly #account = new Account();
  readonly #answers = new CallValue<Answer>();
  /** Answers with unread bytes, in the order of their last progress: the first has waited longest. */
  readonly #waiting = new Set<Answer>();
  #sweeping: NodeJS.Timeout | null = null;

  /** @param pace replaced in tests. */
  constructor(limits: Pick<Limits, "unreadBytes" | "callerUnreadBytes">, pace: AnswerPace = ANSWER_PACE) {
    this.#limits = limits;
    this.#pace = pace;
  }

  /** Counts the answer of each call for its address. */
  watch(): RequestHandler {
    // All answers share them. V8 would keep a response with functions of its own as long as `CallValue` says of a `WeakMap`.
    const write = methodOf(this.#write.bind(this)) as Response["write"];
    const end = methodOf(this.#end.bind(this)) as Response["end"];
    return (request, response, next) => {
      const answer: Answer = {
        response,
        holders: [`address ${callerAddress(request)}`],
        bytes: 0,
        isWatched: false,
        due: 0,
      };
      this.#answers.set(response, answer);
      response.write = write;
      response.end = end;
      next();
    };
  }

  /** Refuses the calls of an address with too many bytes of unread answers. */
  limit(): RequestHandler {
    return (request, _response, next) => {
      this.#refuse(`address ${callerAddress(request)}`);
      next();
    };
  }

  /**
   * Counts the answer for the app that makes the call, too. Nothing of it is written yet.
   * @throws ApiError `unavailable` when the app has too many bytes of unread answers.
   */
  addApp(response: Response, appId: string): void {
    const holder = `app ${appId}`;
    this.#refuse(holder);
    this.#answers.get(response)?.holders.push(holder);
  }

  #refuse(holder: string): void {
    if (this.#account.of(holder) < this.#limits.callerUnreadBytes) return;
    const message =
      "Too many answers to earlier calls of this caller are not read. Read them, or close their connections, then try again.";
    throw new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
  }

  #write(response: Response, args: unknown[]): unknown {
    const answer = this.#answers.get(response);
    if (answer === undefined) return NODE.write.apply(response, args);
    const bytes = sizeOf(args);
    const done = args.find((arg) => typeof arg === "function") as Sent | undefined;
    this.#add(answer, bytes);
    return NODE.write.call(response, ...args.filter((arg) => arg !== done), (error?: Error | null) => {
      this.#sent(answer, bytes);
      done?.(error);
    });
  }

  #end(response: Response, args: unknown[]): unknown {
    NODE.end.apply(response, args);
    const answer = this.#answers.get(response);
    // The operating system takes most answers at once.
    if (answer !== undefined && response.writableLength > 0) this.#add(answer, sizeOf(args));
    return response;
  }

  /** Counts an answer no longer when it is complete, or its connection is closed. */
  #watchEnd(answer: Answer): void {
    const { response } = answer;
    const over = () => {
      this.#sent(answer, answer.bytes);
    };
    response.once("finish", over).once("close", over);
    // An answer that still waits for an earlier one on its connection may have no `close` of its own.
    const { socket } = response.req;
    // As many calls may wait on a connection as their caller sends at once.
    socket.setMaxListeners(0);
    socket.once("close", over);
    response.once("close", () => socket.off("close", over));
  }

  #add(answer: Answer, bytes: number): void {
    if (bytes === 0 || answer.response.req.socket.destroyed) return;
    if (!answer.isWatched) this.#watchEnd(answer);
    answer.isWatched = true;
    const now = performance.now();
    if (answer.bytes === 0) answer.due = now + this.#pace.stall * 1_000;
    answer.due += this.#timeFor(bytes);
    answer.bytes += bytes;
    this.#waiting.add(answer);
    this.#account.add(answer.holders, bytes);
    this.#sweeping ??= setInterval(() => {
      this.#sweep();
    }, SWEEP).unref();
    if (bytes <= SMALL) return;
    for (const holder of answer.holders) {
      this.#closeUntil(answer, holder, () => this.#account.of(holder) <= this.#limits.callerUnreadBytes);
    }
    this.#closeUntil(answer, null, () => this.#account.total <= this.#limits.unreadBytes);
  }

  /** The operating system has taken bytes of an answer. */
  #sent(answer: Answer, bytes: number): void {
    const sent = Math.min(bytes, answer.bytes);
    if (sent === 0) return;
    answer.bytes -= sent;
    answer.due = performance.now() + this.#pace.stall * 1_000 + this.#timeFor(answer.bytes);
    this.#account.add(answer.holders, -sent);
    this.#waiting.delete(answer);
    if (answer.bytes > 0) this.#waiting.add(answer);
  }

  /** Milliseconds in which a caller must read this many bytes. */
  #timeFor(bytes: number): number {
    return (bytes / this.#pace.bytesPerSecond) * 1_000;
  }

  /** Closes the connections that have waited longest, of a holder or of all, except the one of `newest`. */
  #closeUntil(newest: Answer, holder: string | null, isEnough: () => boolean): void {
    for (const answer of this.#waiting) {
      if (isEnough()) return;
      if (answer === newest || (holder !== null && !answer.holders.includes(holder))) continue;
      this.#close(answer);
    }
  }

  #sweep(): void {
    const now = performance.now();
    for (const answer of this.#waiting) if (answer.due <= now) this.#close(answer);
    if (this.#waiting.size > 0 || this.#sweeping === null) return;
    clearInterval(this.#sweeping);
    this.#sweeping = null;
  }

  #close(answer: Answer): void {
    answer.response.req.socket.destroy();
    this.#sent(answer, answer.bytes);
  }
}

type Method = (this: Response, ...args: unknown[]) => unknown;
/** Node's own methods of an answer. */
const NODE = ServerResponse.prototype as unknown as { write: Method; end: Method };

function methodOf(work: (response: Response, args: unknown[]) => unknown): Method {
  return function (...args) {
    return work(this, args);
  };
}

type Sent = (error?: Error | null) => void;

/** Bytes of the chunk in the arguments of `write` or `end`. */
function sizeOf([chunk, encoding]: unknown[]): number {
  if (typeof chunk === "string") {
    return Buffer.byteLength(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8");
  }
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}

/**
 * The bytes of bodies that calls in progress may bring into the memory: their declared length, else the limit of their
 * route. A caller may hold no more of them than it leaves free, so a few callers cannot use up all.
 */
export class OpenBodies {
  readonly #most: number;
  readonly #account = new Account();

  /** @param most bytes of all callers together. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Counts the body of a call until it is closed and handled: what a call does goes on when its caller closes the connection.
   * @param holder the app, or the address of a caller without one.
   * @returns a function to call when the call is handled.
   * @throws ApiError `unavailable`
   */
  open(holder: string, bytes: number, { request, response }: { request: Request; response: Response }): () => void {
    const held = this.#account.of(holder);
    // A body that is larger than its share may still come alone.
    if (held > 0 && held + bytes > this.#most - this.#account.total) {
      const message =
        "Too many bodies of this caller are on their way. Finish the calls that have begun, then try again.";
      throw new ApiError("unavailable", null, { retryAfter: 1, message });
    }
    this.#account.add([holder], bytes);
    const { socket } = request;
    // It may have been closed while the call was authenticated.
    let isClosed = response.closed || socket.destroyed;
    let isHandled = false;
    const close = () => {
      if (isHandled && !isClosed) this.#account.add([holder], -bytes);
      isClosed = true;
    };
    response.once("close", close).once("close", () => socket.off("close", close));
    socket.once("close", close);
    return () => {
      if (isClosed && !isHandled) this.#account.add([holder], -bytes);
      isHandled = true;
    };
  }
}
