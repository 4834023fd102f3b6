import type { Request, RequestHandler, Response } from "express";
import { RateLimiterMemory } from "rate-limiter-flexible";

import type { Limits } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import { BoundedMap } from "../shared/bounded-map.ts";
import type { HttpDeps } from "./deps.ts";
import { type SharedCount, SharedRates, type SharedRatesOptions } from "./shared-rates.ts";

/** Length of a rate limit window, in seconds. */
const WINDOW = 60;
/** Addresses that are counted one by one in a window. All further ones count as one, so that they cannot fill the memory. */
const MOST_ADDRESSES = 100_000;
/** Tokens and sessions that this process remembers as valid. */
const REMEMBERED = 5_000;
/** What the addresses above the limit count as. */
const OTHERS = "others";

const TOO_MANY_ITEMS =
  "The batches of this app have too many items in this minute. `RateLimit` has how many are left. Send fewer, or try again after the number of seconds in `Retry-After`.";

/** What is counted: as whose, and how much a window allows. */
interface Counter {
  /** Its name in the rate limit headers. */
  policy: "app" | "token" | "items" | "operator" | "address" | "public";
  key: string;
  limit: number;
}

type RateLimits = Pick<Limits, "ratePerMinute" | "publicRatePerMinute" | "batchItemsPerMinute">;

/**
 * Counts the calls of each app, by its tokens and sessions together: a session can create tokens without end. The items of its
 * batches are counted separately. Calls of the operator count for their session, and calls without a valid token, or to public routes, for
 * their address. The counters live in the memory of this process: a call costs no write, and a flood leaves nothing behind.
 * Where several API processes run, `SharedRates` adds them up.
 */
export class RateLimit {
  readonly #limits: RateLimits;
  // Each counter has its own limit, which is compared here.
  readonly #counts = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW });
  readonly #shared: SharedRates;
  /** The addresses of this window. */
  readonly #addresses = { names: new Set<string>(), until: 0 };
  /** Hashes of tokens and sessions that were valid when they were last looked up. */
  readonly #remembered = new BoundedMap<string, true>(REMEMBERED);

  constructor(limits: RateLimits, others: Pick<SharedRatesOptions, "database" | "processes">) {
    this.#limits = limits;
    this.#shared = new SharedRates({ ...others, window: WINDOW * 1_000 });
  }

  /**
   * Counts a call of an app, and sets the rate limit headers.
   * @param token its token, which may have a limit of its own. A call that this limit refuses does not count for the app.
   * @throws ApiError `rate_limited`
   */
  async countApp(
    appId: string,
    response: Response,
    token?: { id: string; rate_limit_per_minute: number | null },
  ): Promise<void> {
    const limit = token?.rate_limit_per_minute ?? null;
    if (token !== undefined && limit !== null) {
      addHeaders(response, await this.#count({ policy: "token", key: token.id, limit }));
    }
    addHeaders(response, await this.#count({ policy: "app", key: appId, limit: this.#limits.ratePerMinute }));
  }

  /**
   * Counts the items of a batch, after the call itself, and adds to the rate limit headers. A batch that is refused does not
   * count, so a smaller one may still be accepted.
   * @throws ApiError `rate_limited`; `validation_failed` when a whole window has no room for so many items.
   */
  async countItems(appId: string, items: number, response: Response): Promise<void> {
    const limit = this.#limits.batchItemsPerMinute;
    if (items > limit) {
      const message = `Has ${items.toString()} items, and the batches of an app may have ${limit.toString()} in a minute (BATCH_ITEMS_PER_MINUTE). Send smaller batches.`;
      throw new ApiError("validation_failed", [{ field: "items", code: "too_big", message }]);
    }
    const counter: Counter = { policy: "items", key: appId, limit };
    const counted = await this.#count(counter, items);
    if (counted.used > limit) await this.#counts.reward(nameOf(counter), items);
    addHeaders(response, counted);
  }

  /**
   * Counts a call of a session of the console: for its app, or for itself if it is the operator's.
   * @throws ApiError `rate_limited`
   */
  async countSession(session: { id: string; app_id: string | null }, response: Response): Promise<void> {
    // A sign-in was counted for its address before, and its headers say so.
    clearHeaders(response);
    if (session.app_id !== null) await this.countApp(session.app_id, response);
    else {
      const counter: Counter = { policy: "operator", key: session.id, limit: this.#limits.ratePerMinute };
      addHeaders(response, await this.#count(counter));
    }
  }

  /**
   * Counts a call without a valid token. Only such calls are limited by address, so that others behind the same address can
   * still use their tokens. @throws ApiError `rate_limited`
   */
  async countStranger(request: Request, response: Response): Promise<void> {
    setHeaders(response, await this.#count(this.#strangerOf(request)));
  }

  /**
   * For a token or a session that this process does not remember as valid: refuses it without reading the database when its
   * address has used up the calls without a valid token. @throws ApiError `rate_limited`
   */
  async refuseStranger(hash: string, request: Request, response: Response): Promise<void> {
    if (this.#remembered.get(hash) === true) return;
    const counter = this.#strangerOf(request);
    const found = await this.#counts.get(nameOf(counter));
    if (found !== null && found.consumedPoints >= counter.limit) {
      setHeaders(response, { ...counter, used: counter.limit + 1, msBeforeNext: found.msBeforeNext });
    }
  }

  /** Remembers a token or a session that was found valid. */
  rememberValid(hash: string): void {
    this.#remembered.set(hash, true);
  }

  /** Counts a call to a public route, before it does anything. Only this process counts it. @throws ApiError `rate_limited` */
  async countPublic(request: Request, response: Response): Promise<void> {
    const key = this.#addressOf(request);
    const counter: Counter = { policy: "public", key, limit: this.#limits.publicRatePerMinute };
    const { consumedPoints: used, msBeforeNext } = await this.#counts.consume(nameOf(counter));
    setHeaders(response, { ...counter, used, msBeforeNext });
  }

  #strangerOf(request: Request): Counter {
    return { policy: "address", key: this.#addressOf(request), limit: this.#limits.ratePerMinute };
  }

  #addressOf(request: Request): string {
    const address = callerAddress(request);
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

  /** Counts a call, or `count` items of one. @returns what was counted in the window, these included. */
  async #count(counter: Counter, count = 1): Promise<Counter & SharedCount> {
    const name = nameOf(counter);
    const { consumedPoints: used, msBeforeNext } = await this.#counts.consume(name, count);
    // What is refused here is not counted for the other processes.
    const { limit } = counter;
    const total = used > limit ? null : await this.#shared.add(name, { used, msBeforeNext }, { limit, count });
    if (total === null) return { ...counter, used, msBeforeNext };
    await this.#counts.set(name, total.used, total.msBeforeNext / 1_000);
    return { ...counter, ...total };
  }
}

function nameOf({ policy, key }: Counter): string {
  return `${policy}:${key}`;
}

/**
 * Counts the calls of each address to routes that need no token. Says once when a proxy's callers share its address, because the
 * service does not trust the proxy.
 */
export function limitPublic({ rates, settings, logger }: HttpDeps): RequestHandler {
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
function setHeaders(response: Response, counted: Counter & SharedCount): void {
  clearHeaders(response);
  addHeaders(response, counted);
}

/** Removes what an earlier count of the same call has set. */
function clearHeaders(response: Response): void {
  response.removeHeader("RateLimit-Policy");
  response.removeHeader("RateLimit");
}

/** Adds a further limit to the rate limit headers. @throws ApiError `rate_limited` */
function addHeaders(response: Response, { policy, limit, used, msBeforeNext }: Counter & SharedCount): void {
  const seconds = Math.ceil(msBeforeNext / 1_000);
  const add = (name: string, value: string) => {
    const before = response.get(name);
    response.setHeader(name, before === undefined ? value : `${before}, ${value}`);
  };
  add("RateLimit-Policy", `"${policy}";q=${limit.toString()};w=${WINDOW.toString()}`);
  add("RateLimit", `"${policy}";r=${Math.max(0, limit - used).toString()};t=${seconds.toString()}`);
  if (used <= limit) return;
  const retryAfter = Math.max(1, seconds);
  throw new ApiError(
    "rate_limited",
    null,
    policy === "items" ? { retryAfter, message: TOO_MANY_ITEMS } : { retryAfter },
  );
}

/** The client of a call: see `clientAt`. */
export function callerAddress(request: Request): string {
  return clientAt(request.ip ?? "");
}

/** Who an address counts as. An IPv6 address counts as its network, because a subscriber can use any address in it. */
export function clientAt(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  // The first four groups are the first 64 bits.
  if (tail === undefined) return groups.slice(0, 4).join(":");
  const missing = 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  return [...groups, ...Array<string>(missing).fill("0"), ...tail.split(":")].slice(0, 4).join(":");
}
