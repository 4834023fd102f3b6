import type { PlannedCall, SimulatedCall } from "../chain/simulate-calls.ts";

/** A call of a request that runs foreign code. */
export interface ForeignCall extends PlannedCall {
  /** Id of the request. */
  id: string;
  appId: string;
  /** The contract whose code decides how long the simulation takes. */
  receiver: string;
}

/** All times in milliseconds. How long a result is used. After that, the state of the chain may be another. */
const RESULT_LASTS = 60_000;
/** How long a receiver counts as slow after its simulation was not answered. */
const SLOW_LASTS = 600_000;
/** Most calls of one app in the queue. Further ones stay in the database. */
const MOST_OF_APP = 100;
/** Most results and receivers that are remembered. */
const MOST_KEPT = 10_000;

/**
 * Calls whose simulation takes too long for a batch, and what became of them. It is in memory: after a restart, they are
 * simulated again. Times are those of the monotonic clock.
 */
export class ApartQueue {
  /** In the order of the apps' turns. */
  readonly #waiting = new Map<string, ForeignCall[]>();
  /** Ids of the calls that wait or are being simulated. */
  readonly #ids = new Set<string>();
  readonly #results = new Map<string, { result: SimulatedCall; until: number }>();
  readonly #slow = new Map<string, number>();
  #current: ForeignCall | null = null;

  /** @returns false when the app has too many calls in the queue. */
  add(call: ForeignCall): boolean {
    if (this.#ids.has(call.id)) return true;
    const waiting = this.#waiting.get(call.appId) ?? [];
    if (waiting.length >= MOST_OF_APP) return false;
    waiting.push(call);
    this.#waiting.set(call.appId, waiting);
    this.#ids.add(call.id);
    return true;
  }

  /** Takes the next call, the apps in turns. End it with `record` or `putBack` before taking another. */
  next(): ForeignCall | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [appId, waiting] = first;
    const call = waiting.shift();
    this.#waiting.delete(appId);
    if (waiting.length > 0) this.#waiting.set(appId, waiting);
    this.#current = call ?? null;
    return call;
  }

  /** Puts a call back that could not be simulated now. */
  putBack(call: ForeignCall): void {
    this.#current = null;
    this.#waiting.set(call.appId, [call, ...(this.#waiting.get(call.appId) ?? [])]);
  }

  /** @param result "unanswered": the receiver is slow, so the call is sent without a simulation. */
  record(call: ForeignCall, result: SimulatedCall | "unanswered", now: number): void {
    this.#current = null;
    this.#ids.delete(call.id);
    if (result === "unanswered") keep(this.#slow, call.receiver, now + SLOW_LASTS);
    keep(this.#results, call.id, { result: result === "unanswered" ? null : result, until: now + RESULT_LASTS });
  }

  /** The result of a request's call; undefined: none. */
  resultOf(id: string, now: number): SimulatedCall | undefined {
    const found = this.#results.get(id);
    return found === undefined || found.until < now ? undefined : found.result;
  }

  /** Whether the simulation of the receiver was not answered, even alone. */
  isSlow(receiver: string, now: number): boolean {
    return (this.#slow.get(receiver) ?? -Infinity) > now;
  }

  /** Whether calls of this app wait or are being simulated. */
  hasApp(appId: string): boolean {
    return this.#waiting.has(appId) || this.#current?.appId === appId;
  }
}

/** Adds an entry, and drops the oldest one when there are too many. */
function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_KEPT && oldest !== undefined) map.delete(oldest);
}
