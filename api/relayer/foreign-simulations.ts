import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { describeError } from "../chain/errors.ts";
import { type SimulatedCall, simulatePlannedCalls } from "../chain/simulate-calls.ts";
import { pause } from "../shared/pause.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Db } from "../store/db/engine.ts";
import { readMeta } from "../store/db/meta.ts";
import { ApartQueue, type ForeignCall } from "./apart-queue.ts";
import { simulateInTime } from "./simulate-in-time.ts";

export interface SimulationDeps {
  client: ChainClient;
  read: Db;
  relay: string;
  maxItemGas: number;
  /** Time for the simulations of one batch, and for one that runs alone, in milliseconds. */
  budget: number;
  logger: Logger;
}

/** The call is simulated alone. Its request is looked at again after this time. */
export interface Apart {
  /** Milliseconds. */
  retryIn: number;
}

/** Gas of a simulation, as a multiple of what an item may use. Enough to tell people how much the item lacks. */
const GAS_MULTIPLE = 4;
/** All times in milliseconds. Wait of a request whose call is in the queue. */
const RETRY_QUEUED = 2_000;
/** Wait of a request for which the queue has no room. */
const RETRY_LATER = 30_000;
/** After a longer simulation, the node gets time for the other requests: `REST` times as long as the simulation took. */
const QUICK = 100;
const REST = 3;
const POLL = 60_000;

/**
 * Simulates calls that run foreign code, within a time budget for each batch. A call that exhausts it is set apart: it is
 * simulated alone, while the other requests are sent. If it is not answered even then, the request is sent without a
 * simulation. Until the calls of an app that were set apart are done, its further calls join them, so an app cannot use up
 * the budget of every batch. One instance serves all lanes of a process.
 */
export class ForeignSimulations {
  readonly #deps: SimulationDeps;
  readonly #queue = new ApartQueue();
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

  /** Simulates the calls that were set apart, one at a time, until `abort`. */
  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(() => this.#step(abort), abort);
  }

  /** @param block the calls run on top of it. */
  async ofBatch(calls: readonly ForeignCall[], block: number): Promise<(SimulatedCall | Apart)[]> {
    const { budget, logger } = this.#deps;
    const known = new Map<ForeignCall, SimulatedCall | Apart>();
    for (const call of calls) {
      const result = this.#known(call);
      if (result !== undefined) known.set(call, result);
    }
    const open = calls.filter((call) => !known.has(call));
    const results = await simulateInTime(open, budget, (part, abort) => this.#simulate(part, block, abort));
    for (const [index, call] of open.entries()) {
      const result = results[index];
      known.set(call, result === undefined ? this.#setApart(call) : result);
    }
    const apart = results.filter((result) => result === undefined).length;
    if (apart > 0)
      logger.warn({ requests: apart }, "simulations took too long; these requests are simulated alone, and sent later");
    return calls.map((call) => known.get(call) ?? null);
  }

  #known(call: ForeignCall): SimulatedCall | Apart | undefined {
    const now = performance.now();
    const result = this.#queue.resultOf(call.id, now);
    if (result !== undefined) return result;
    if (this.#queue.isSlow(call.receiver, now)) return null;
    return this.#queue.hasApp(call.appId) ? this.#setApart(call) : undefined;
  }

  #setApart(call: ForeignCall): Apart {
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
    const block = await client.headNumber();
    // A node that is behind cannot tell what the call would do.
    if (block < Number((await readMeta(read, "checkpoint")) ?? 0)) return null;
    const abort = AbortSignal.any([stop, AbortSignal.timeout(budget)]);
    const results = await this.#simulate([call], block, abort);
    return results === "unanswered" ? results : (results[0] ?? null);
  }

  #simulate(calls: ForeignCall[], block: number, abort: AbortSignal): Promise<SimulatedCall[] | "unanswered"> {
    const { client, relay, maxItemGas } = this.#deps;
    return simulatePlannedCalls(client, relay, calls, { block, maxGas: GAS_MULTIPLE * maxItemGas, abort });
  }
}
