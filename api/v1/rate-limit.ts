import type { Request, Response } from "express";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

import { ApiError } from "../domain/error-codes.ts";
import { type SharedCount, SharedRates, type SharedRatesOptions } from "./shared-rates.ts";

/** Length of a rate limit window, in seconds. */
const WINDOW = 60;

/**
 * Counts the calls of each app, by its tokens and sessions together: a session can create tokens without end. Calls of the
 * operator count for their session, and calls without a valid token for their address. The counters live in the memory of this
 * process: a call costs no write, and a flood leaves nothing behind. Where several API processes run, `SharedRates` adds them
 * up.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #apps: RateLimiterMemory;
  readonly #operators: RateLimiterMemory;
  readonly #strangers: RateLimiterMemory;
  readonly #shared: SharedRates;

  constructor(perMinute: number, others: Pick<SharedRatesOptions, "database" | "processes">) {
    this.#perMinute = perMinute;
    this.#shared = new SharedRates({ ...others, limit: perMinute, window: WINDOW * 1_000 });
    this.#apps = new RateLimiterMemory({ points: perMinute, duration: WINDOW, keyPrefix: "app" });
    this.#operators = new RateLimiterMemory({ points: perMinute, duration: WINDOW, keyPrefix: "operator" });
    this.#strangers = new RateLimiterMemory({ points: perMinute, duration: WINDOW, keyPrefix: "address" });
  }

  /** Counts a call with a valid token, and sets the rate limit headers. @throws ApiError `rate_limited` */
  async countApp(appId: string, response: Response): Promise<void> {
    await this.#count(this.#apps, "app", appId, response);
  }

  /** Counts a call of a session of the console: for its app, or for itself if it is the operator's. @throws ApiError `rate_limited` */
  async countSession(session: { id: string; app_id: string | null }, response: Response): Promise<void> {
    if (session.app_id !== null) await this.countApp(session.app_id, response);
    else await this.#count(this.#operators, "operator", session.id, response);
  }

  /**
   * Counts a call without a valid token. Only such calls are limited by address, so that others behind the same address can
   * still use their tokens. @throws ApiError `rate_limited`
   */
  async countStranger(request: Request, response: Response): Promise<void> {
    await this.#count(this.#strangers, "address", addressOf(request), response);
  }

  async #count(limiter: RateLimiterMemory, policy: string, key: string, response: Response): Promise<void> {
    const { used, msBeforeNext } = await this.#use(limiter, policy, key);
    const seconds = Math.ceil(msBeforeNext / 1_000);
    response.setHeader("RateLimit-Policy", `"${policy}";q=${this.#perMinute.toString()};w=${WINDOW.toString()}`);
    const left = Math.max(0, this.#perMinute - used).toString();
    response.setHeader("RateLimit", `"${policy}";r=${left};t=${seconds.toString()}`);
    if (used > this.#perMinute) throw new ApiError("rate_limited", null, { retryAfter: Math.max(1, seconds) });
  }

  /** Counts a call. @returns the calls in the window, this one included. */
  async #use(limiter: RateLimiterMemory, policy: string, key: string): Promise<SharedCount> {
    const { consumedPoints: used, msBeforeNext } = await consume(limiter, key);
    // A call that is refused here is not counted for the other processes.
    const total = used > this.#perMinute ? null : await this.#shared.add(`${policy}:${key}`, { used, msBeforeNext });
    if (total === null) return { used, msBeforeNext };
    await limiter.set(key, total.used, total.msBeforeNext / 1_000);
    return total;
  }
}

/** The limiter rejects when no call is left. */
async function consume(limiter: RateLimiterMemory, key: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key);
  } catch (reason) {
    if (reason instanceof RateLimiterRes) return reason;
    throw reason;
  }
}

/** An IPv6 address counts as its network, because a subscriber can use any address in it. */
function addressOf(request: Request): string {
  const address = request.ip ?? "";
  return address.includes(":") && !address.includes(".") ? networkOf(address) : address;
}

/** The first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail === undefined) return groups.slice(0, 4).join(":");
  const missing = 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  return [...groups, ...Array<string>(missing).fill("0"), ...tail.split(":")].slice(0, 4).join(":");
}
