import type { Request, RequestHandler, Response } from "express";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

import { ApiError } from "../domain/error-codes.ts";
import type { AppDeps } from "./deps.ts";
import { type SharedCount, SharedRates, type SharedRatesOptions } from "./shared-rates.ts";

/** Length of a rate limit window, in seconds. */
const WINDOW = 60;
/** Addresses that are counted one by one in a window. All further ones count as one, so that they cannot fill the memory. */
const MOST_ADDRESSES = 100_000;
/** Tokens and sessions that this process remembers as valid. */
const MOST_REMEMBERED = 10_000;
/** What the addresses above the limit count as. */
const OTHERS = "others";

export interface RateLimits {
  /** Calls of an app, and of a caller without a valid token, in a minute. */
  perMinute: number;
  /** Calls of an address to public routes in a minute. */
  publicPerMinute: number;
}

/**
 * Counts the calls of each app, by its tokens and sessions together: a session can create tokens without end. Calls of the
 * operator count for their session, and calls without a valid token, or to public routes, for their address. The counters
 * live in the memory of this process: a call costs no write, and a flood leaves nothing behind. Where several API processes
 * run, `SharedRates` adds them up.
 */
export class RateLimit {
  readonly #limits: RateLimits;
  readonly #apps: RateLimiterMemory;
  readonly #operators: RateLimiterMemory;
  readonly #strangers: RateLimiterMemory;
  readonly #visitors: RateLimiterMemory;
  readonly #shared: SharedRates;
  /** The addresses of this window. */
  readonly #addresses = { names: new Set<string>(), until: 0 };
  /** Hashes of tokens and sessions that were valid when they were last looked up, the oldest first. */
  readonly #remembered = new Set<string>();

  constructor(limits: RateLimits, others: Pick<SharedRatesOptions, "database" | "processes">) {
    const { perMinute, publicPerMinute } = limits;
    this.#limits = limits;
    this.#shared = new SharedRates({ ...others, limit: perMinute, window: WINDOW * 1_000 });
    this.#apps = new RateLimiterMemory({ points: perMinute, duration: WINDOW, keyPrefix: "app" });
    this.#operators = new RateLimiterMemory({ points: perMinute, duration: WINDOW, keyPrefix: "operator" });
    this.#strangers = new RateLimiterMemory({ points: perMinute, duration: WINDOW, keyPrefix: "address" });
    this.#visitors = new RateLimiterMemory({ points: publicPerMinute, duration: WINDOW, keyPrefix: "public" });
  }

  /** Counts a call with a valid token, and sets the rate limit headers. @throws ApiError `rate_limited` */
  async countApp(appId: string, response: Response): Promise<void> {
    await this.#count(this.#apps, "app", appId, response);
  }

  /**
   * Counts a call of a session of the console: for its app, or for itself if it is the operator's.
   * @throws ApiError `rate_limited`
   */
  async countSession(session: { id: string; app_id: string | null }, response: Response): Promise<void> {
    if (session.app_id !== null) await this.countApp(session.app_id, response);
    else await this.#count(this.#operators, "operator", session.id, response);
  }

  /**
   * Counts a call without a valid token. Only such calls are limited by address, so that others behind the same address can
   * still use their tokens. @throws ApiError `rate_limited`
   */
  async countStranger(request: Request, response: Response): Promise<void> {
    await this.#count(this.#strangers, "address", this.#addressOf(request), response);
  }

  /**
   * For a token or a session that this process does not remember as valid: refuses it without a look into the database when its
   * address has used up the calls without a valid token. @throws ApiError `rate_limited`
   */
  async refuseStranger(hash: string, request: Request, response: Response): Promise<void> {
    if (this.#remembered.has(hash)) return;
    const found = await this.#strangers.get(this.#addressOf(request));
    const { perMinute } = this.#limits;
    if (found !== null && found.consumedPoints >= perMinute) {
      answer(response, { policy: "address", limit: perMinute, used: perMinute + 1, msBeforeNext: found.msBeforeNext });
    }
  }

  /** Remembers a token or a session that was found valid. */
  rememberValid(hash: string): void {
    this.#remembered.delete(hash);
    this.#remembered.add(hash);
    if (this.#remembered.size <= MOST_REMEMBERED) return;
    for (const oldest of this.#remembered) {
      this.#remembered.delete(oldest);
      return;
    }
  }

  /** Counts a call to a public route, before it does anything. Only this process counts it. @throws ApiError `rate_limited` */
  async countPublic(request: Request, response: Response): Promise<void> {
    const { consumedPoints: used, msBeforeNext } = await consume(this.#visitors, this.#addressOf(request));
    answer(response, { policy: "public", limit: this.#limits.publicPerMinute, used, msBeforeNext });
  }

  async #count(limiter: RateLimiterMemory, policy: string, key: string, response: Response): Promise<void> {
    answer(response, { policy, limit: this.#limits.perMinute, ...(await this.#use(limiter, policy, key)) });
  }

  #addressOf(request: Request): string {
    const address = addressOf(request);
    const { names, until } = this.#addresses;
    const now = performance.now();
    if (now >= until) {
      names.clear();
      this.#addresses.until = now + WINDOW * 1_000;
    }
    if (names.size >= MOST_ADDRESSES && !names.has(address)) return OTHERS;
    names.add(address);
    return address;
  }

  /** Counts a call. @returns the calls in the window, this one included. */
  async #use(limiter: RateLimiterMemory, policy: string, key: string): Promise<SharedCount> {
    const { consumedPoints: used, msBeforeNext } = await consume(limiter, key);
    // A call that is refused here is not counted for the other processes.
    const total =
      used > this.#limits.perMinute ? null : await this.#shared.add(`${policy}:${key}`, { used, msBeforeNext });
    if (total === null) return { used, msBeforeNext };
    await limiter.set(key, total.used, total.msBeforeNext / 1_000);
    return total;
  }
}

/**
 * Counts the calls of each address to routes that need no token. Says once when a proxy's callers share its address, because the
 * service does not trust the proxy.
 */
export function limitPublic({
  rates,
  settings,
  logger,
}: Pick<AppDeps, "settings" | "logger"> & { rates: RateLimit }): RequestHandler {
  let warned = settings.trustProxy.length > 0;
  return async (request, response, next) => {
    if (!warned && request.get("x-forwarded-for") !== undefined) {
      warned = true;
      logger.warn(
        "a call came through a proxy, but TRUST_PROXY is not set: all callers share the proxy's address and its rate limits. Set TRUST_PROXY if the proxy is yours.",
      );
    }
    await rates.countPublic(request, response);
    next();
  };
}

/** Sets the rate limit headers. @throws ApiError `rate_limited` when too many calls were made */
function answer(
  response: Response,
  { policy, limit, used, msBeforeNext }: SharedCount & { policy: string; limit: number },
): void {
  const seconds = Math.ceil(msBeforeNext / 1_000);
  response.setHeader("RateLimit-Policy", `"${policy}";q=${limit.toString()};w=${WINDOW.toString()}`);
  response.setHeader("RateLimit", `"${policy}";r=${Math.max(0, limit - used).toString()};t=${seconds.toString()}`);
  if (used > limit) throw new ApiError("rate_limited", null, { retryAfter: Math.max(1, seconds) });
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

/** The client of a call: see `clientAt`. */
export function addressOf(request: Request): string {
  return clientAt(request.ip ?? "");
}

/** Who an address counts as. An IPv6 address counts as its network, because a subscriber can use any address in it. */
export function clientAt(address: string): string {
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
