import type { Request, Response } from "express";

import { ApiError } from "../domain/error-codes.ts";
import { callerAddress } from "./rate-limit.ts";

/** `Retry-After` in seconds while a caller holds too much. */
const RETRY_AFTER = 1;
/** A caller that holds this part of the bytes of answers gets no further one until it reads. */
const SHARE_OF_ANSWERS = 1 / 4;

/** Who a call counts for. */
export interface BytesHolder {
  /** Null: a stranger, or the operator without a choice of an app. They count as their address. */
  appId: string | null;
}

/** Who calls a public page. */
export const STRANGER: BytesHolder = { appId: null };

/** What is in memory: a JSON body, until its call is handled, or an answer, until the operating system has taken it. */
type Held = "body" | "answer";

/**
 * Bytes in memory of the calls in flight. Bodies and answers have as many each, so that slow bodies of an app do not keep it from
 * reading. A caller, which is an app or an address, holds no more than it leaves free, so a few callers cannot use up all; and no
 * more than a quarter of the answers. One body or answer it may always have. Strangers share bytes of their own.
 */
export class HeldBytes {
  readonly #shares: Record<Held, { apps: Share; strangers: Share }>;

  /** @param most bytes of all apps together, and of all strangers. */
  constructor(most: number) {
    const shares = (ofOne: number) => ({ apps: new Share(most, ofOne), strangers: new Share(most, ofOne) });
    this.#shares = { body: shares(most), answer: shares(most * SHARE_OF_ANSWERS) };
  }

  /** Whether the caller may hold so many bytes more. */
  fits(request: Request, caller: BytesHolder, bytes: number, of: Held = "answer"): boolean {
    const { share, holder } = this.#shareOf(request, caller, of);
    return share.fits(holder, bytes);
  }

  /** @throws ApiError `unavailable` when the caller may not hold so many bytes more. */
  requireFit(request: Request, caller: BytesHolder, bytes = 1, of: Held = "answer"): void {
    if (!this.fits(request, caller, bytes, of)) throw tooMuch();
  }

  /** Counts bytes. @returns a function that gives them back. */
  add(request: Request, caller: BytesHolder, bytes: number, of: Held = "answer"): () => void {
    const { share, holder } = this.#shareOf(request, caller, of);
    return share.add(holder, bytes);
  }

  /**
   * Sends the body of an answer, and counts it until the operating system has taken it.
   * @throws ApiError `unavailable` when the caller may not hold it. The answer of a call that writes is always sent.
   */
  end(response: Response, caller: BytesHolder, body: Buffer): void {
    const { req: request } = response;
    if (request.method === "GET") this.requireFit(request, caller, body.length);
    response.setHeader("Content-Length", body.length);
    response.end(body);
    // The operating system takes most answers at once.
    if (response.writableLength > 0) this.hold(response, caller, body.length);
  }

  /** Counts bytes of an answer until it is complete, or its connection is closed. */
  hold(response: Response, caller: BytesHolder, bytes: number): void {
    const { socket } = response.req;
    if (response.closed || socket.destroyed) return;
    const release = this.add(response.req, caller, bytes);
    // One listener of `close`: with another, Node would warn of a leak when an export is sent.
    response.once("finish", release).once("close", () => {
      release();
      socket.off("close", release);
    });
    // An answer that still waits for an earlier one on its connection may have no `close` of its own. As many calls may wait there
    // as their caller sends at once.
    socket.setMaxListeners(0).once("close", release);
  }

  #shareOf(request: Request, { appId }: BytesHolder, of: Held): { share: Share; holder: string } {
    const { apps, strangers } = this.#shares[of];
    return appId === null ? { share: strangers, holder: callerAddress(request) } : { share: apps, holder: appId };
  }
}

/** Bytes, in all and by who holds them. */
class Share {
  readonly #most: number;
  readonly #ofOne: number;
  readonly #byHolder = new Map<string, number>();
  #total = 0;

  /** @param ofOne most bytes of one holder. */
  constructor(most: number, ofOne: number) {
    this.#most = most;
    this.#ofOne = ofOne;
  }

  fits(holder: string, bytes: number): boolean {
    const held = this.#byHolder.get(holder) ?? 0;
    return held === 0 || held + bytes <= Math.min(this.#ofOne, this.#most - this.#total);
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
