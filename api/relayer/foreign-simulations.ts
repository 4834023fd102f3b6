import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { describeError } from "../chain/errors.ts";
import type { CalledContracts } from "../chain/refusals.ts";
import { type PlannedCall, type SimulatedCall, simulatePlannedCalls } from "../chain/simulate-calls.ts";
import { answersInTime } from "../shared/answers-in-time.ts";
import { BoundedMap } from "../shared/bounded-map.ts";
import { pause } from "../shared/pause.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import { readMeta } from "../store/db/meta.ts";
import type { Db } from "../store/db/sql.ts";

interface SimulationDeps {
  client: ChainClient;
  read: Db;
  contracts: CalledContracts;
  maxItemGas: number;
  /** Time for the simulations of one batch, and for one that runs alone, in milliseconds. */
  budget: number;
  logger: Logger;
}

/** The call is simulated alone. Its request is looked at again after this time. */
export interface Deferred {
  /** Milliseconds. */
  retryIn: number;
}

/** All times in milliseconds. Wait of a request whose call is in the queue. */
const RETRY_QUEUED = 2_000;
/** Wait of a request for which the queue has no room. */
const RETRY_LATER = 30_000;
/** After a longer simulation, the node gets time for the other requests: `REST` times as long as the simulation took. */
const QUICK = 100;
const REST = 3;
const POLL = 60_000;

/**
 * Simulates calls that run foreign code, within a time budget for each batch. A call that exhausts it is deferred: it is
 * simulated alone, while the other requests are sent. If it is not answered even then, the request is sent without a
 * simulation. Until the calls of an app that were deferred are done, its further calls join them, so an app cannot use up
 * the budget of every batch. One instance serves all lanes of a process.
 */
export class ForeignSimulations {
  readonly #deps: SimulationDeps;
  readonly #queue = new DeferredCalls();
  readonly #added = new Signal();
  readonly #loop: WorkLoop;

  constructor(deps: SimulationDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: this.#added,
      pollInterval: POLL,
      messages: { failed: "calls cannot be simulated; retrying", recovered: "calls can be simulated again" },
      describe: describeError,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  /** Simulates the calls that were deferred, one at a time, until `abort`. */
  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(() => this.#step(abort), abort);
  }

  /** @param block the calls run on top of it. */
  async ofBatch(calls: readonly ForeignCall[], block: number): Promise<(SimulatedCall | Deferred)[]> {
    const { budget, logger } = this.#deps;
    const known = new Map<ForeignCall, SimulatedCall | Deferred>();
    for (const call of calls) {
      const result = this.#known(call);
      if (result !== undefined) known.set(call, result);
    }
    const open = calls.filter((call) => !known.has(call));
    const results = await answersInTime(open, budget, (part, abort) => this.#simulate(part, block, abort));
    for (const [index, call] of open.entries()) {
      const result = results[index];
      known.set(call, result === undefined ? this.#defer(call) : result);
    }
    const deferred = results.filter((result) => result === undefined).length;
    if (deferred > 0)
      logger.warn(
        { requests: deferred },
        "simulations took too long; these requests are simulated alone, and sent later",
      );
    return calls.map((call) => known.get(call) ?? null);
  }

  #known(call: ForeignCall): SimulatedCall | Deferred | undefined {
    const now = performance.now();
    const result = this.#queue.resultOf(call.id, now);
    if (result !== undefined) {
      // What only one node says is asked again at a later block.
      if (result !== null && "failure" in result && !result.confirmed) this.#queue.forget(call.id);
      return result;
    }
    if (this.#queue.isSlow(call.receiver, now)) return null;
    return this.#queue.hasApp(call.appId) ? this.#defer(call) : undefined;
  }

  #defer(call: ForeignCall): Deferred {
    const added = this.#queue.add(call);
    this.#added.notify();
    return { retryIn: added ? RETRY_QUEUED : RETRY_LATER };
  }

  async #step(abort: AbortSignal): Promise<StepResult> {
    const call = this.#queue.next();
    if (call === undefined) return "idle";
    const started = performance.now();
    // Another call has shown meanwhile that the receiver is slow.
    if (this.#queue.isSlow(call.receiver, started)) {
      this.#queue.record(call, null, started);
      return "again";
    }
    let result: SimulatedCall | "unanswered";
    try {
      result = await this.#simulateAlone(call, abort);
    } catch (error) {
      this.#queue.putBack(call);
      throw error;
    }
    if (abort.aborted) return "idle";
    const now = performance.now();
    this.#queue.record(call, result, now);
    if (result === "unanswered") {
      this.#deps.logger.warn(
        { request: call.id, receiver: call.receiver },
        "a receiver's code cannot be simulated in time; its requests are sent without a simulation for ten minutes",
      );
    }
    if (now - started > QUICK) await pause(REST * (now - started), abort);
    return "again";
  }

  async #simulateAlone(call: ForeignCall, stop: AbortSignal): Promise<SimulatedCall | "unanswered"> {
    const { client, read, budget } = this.#deps;
    return client.nodes.session(async () => {
      const block = await client.headNumber();
      // A node that is behind cannot tell what the call would do.
      if (block < Number((await readMeta(read, "checkpoint")) ?? 0)) return null;
      const abort = AbortSignal.any([stop, AbortSignal.timeout(budget)]);
      const results = await this.#simulate([call], block, abort);
      return results === "unanswered" ? results : (results[0] ?? null);
    });
  }

  #simulate(calls: ForeignCall[], block: number, abort: AbortSignal): Promise<SimulatedCall[] | "unanswered"> {
    const { client, contracts, maxItemGas } = this.#deps;
    return simulatePlannedCalls(client, contracts, calls, { block, itemGas: maxItemGas, abort });
  }
}

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
/** Results, and slow receivers, that are remembered. */
const REMEMBERED = 5_000;

/**
 * Calls whose simulation takes too long for a batch, and what became of them. It is in memory: after a restart, they are
 * simulated again. Times are those of the monotonic clock.
 */
export class DeferredCalls {
  /** In the order of the apps' turns. */
  readonly #waiting = new Map<string, ForeignCall[]>();
  /** Ids of the calls that wait or are being simulated. */
  readonly #ids = new Set<string>();
  readonly #results = new BoundedMap<string, { result: SimulatedCall; until: number }>(REMEMBERED);
  /** By receiver, until when it counts as slow. */
  readonly #slow = new BoundedMap<string, number>(REMEMBERED);
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
    if (result === "unanswered") this.#slow.set(call.receiver, now + SLOW_LASTS);
    this.#results.set(call.id, { result: result === "unanswered" ? null : result, until: now + RESULT_LASTS });
  }

  /** The result of a request's call; undefined: none. */
  resultOf(id: string, now: number): SimulatedCall | undefined {
    const found = this.#results.get(id);
    return found === undefined || found.until < now ? undefined : found.result;
  }

  /** The result is not used again. */
  forget(id: string): void {
    this.#results.delete(id);
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
