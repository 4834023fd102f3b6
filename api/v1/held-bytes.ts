import type { Request, Response } from "express";

import { ApiError } from "../domain/error-codes.ts";
import { callerAddress } from "./rate-limit.ts";

/** `Retry-After` in seconds while a caller holds too much. */
const RETRY_AFTER = 1;
/** A caller that holds this part of all bytes gets no further answer until it reads. */
const SHARE_OF_ANSWERS = 1 / 4;

/** Who a call counts for. */
export interface Caller {
  /** Null: a stranger, or the operator without a choice of an app. They count as their address. */
  appId: string | null;
}

/** Who calls a public page. */
export const STRANGER: Caller = { appId: null };

/**
 * Bytes in memory of the calls in flight: of JSON bodies, and of answers until the operating system has taken them. A caller, which is
 * an app or an address, holds no more than it leaves free, so a few callers cannot use up all. It gets no further answer while it holds
 * a quarter of all. One body or answer it may always have. Strangers share bytes of their own.
 */
export class HeldBytes {
  readonly #apps: Share;
  readonly #strangers: Share;

  /** @param most bytes of all apps together, and of all strangers. */
  constructor(most: number) {
    this.#apps = new Share(most);
    this.#strangers = new Share(most);
  }

  /** Whether the caller has room for so many bytes more. */
  hasRoom(request: Request, caller: Caller, bytes: number, of: "body" | "answer" = "answer"): boolean {
    const { share, holder } = this.#shareOf(request, caller);
    return share.hasRoom(holder, bytes, of === "body" ? 1 : SHARE_OF_ANSWERS);
  }

  /** @throws ApiError `unavailable` when the caller has no room for so many bytes, or for any answer. */
  requireRoom(request: Request, caller: Caller, bytes = 1, of: "body" | "answer" = "answer"): void {
    if (!this.hasRoom(request, caller, bytes, of)) throw tooMuch();
  }

  /** Counts bytes. @returns a function that gives them back. */
  add(request: Request, caller: Caller, bytes: number): () => void {
    const { share, holder } = this.#shareOf(request, caller);
    return share.add(holder, bytes);
  }

  /**
   * Sends the body of an answer, and counts it until the operating system has taken it.
   * @throws ApiError `unavailable` when the caller has no room for it. The answer of a call that writes is always sent.
   */
  end(response: Response, caller: Caller, body: Buffer): void {
    const { req: request } = response;
    if (request.method === "GET") this.requireRoom(request, caller, body.length);
    response.setHeader("Content-Length", body.length);
    response.end(body);
    // The operating system takes most answers at once.
    if (response.writableLength > 0) this.hold(response, caller, body.length);
  }

  /** Counts bytes of an answer until it is complete, or its connection is closed. */
  hold(response: Response, caller: Caller, bytes: number): void {
    const { socket } = response.req;
    if (response.closed || socket.destroyed) return;
    const release = this.add(response.req, caller, bytes);
    response.once("finish", release).once("close", release);
    // An answer that still waits for an earlier one on its connection may have no `close` of its own. As many calls may wait there
    // as their caller sends at once.
    socket.setMaxListeners(0).once("close", release);
    response.once("close", () => socket.off("close", release));
  }

  #shareOf(request: Request, { appId }: Caller): { share: Share; holder: string } {
    return appId === null
      ? { share: this.#strangers, holder: callerAddress(request) }
      : { share: this.#apps, holder: appId };
  }
}

/** Bytes, in all and by who holds them. */
class Share {
  readonly #most: number;
  readonly #byHolder = new Map<string, number>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param part of all bytes, which the holder may have at most. */
  hasRoom(holder: string, bytes: number, part: number): boolean {
    const held = this.#byHolder.get(holder) ?? 0;
    return held === 0 || held + bytes <= Math.min(part * this.#most, this.#most - this.#total);
  }

  /** @returns a function that gives the bytes back. */
  add(holder: string, bytes: number): () => void {
    this.#add(holder, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(holder, -bytes);
      isHeld = false;
    };
  }

  #add(holder: string, bytes: number): void {
    this.#total += bytes;
    const held = (this.#byHolder.get(holder) ?? 0) + bytes;
    if (held === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, held);
  }
}

function tooMuch(): ApiError {
  const message =
    "Too many calls of this caller are in flight: bodies that are on their way, or answers that are not read. Finish these calls, then try again.";
  return new ApiError("unavailable", null, { retryAfter: RETRY_AFTER, message });
}
