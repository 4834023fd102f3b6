import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { describeError } from "../chain/errors.ts";
import type { CalledContracts } from "../chain/refusals.ts";
import { type PlannedCall, type SimulatedCall, simulatePlannedCalls } from "../chain/simulate-calls.ts";
import { answersInTime } from "../shared/answers-in-time.ts";
import { BoundedMap } from "../shared/bounded-map.ts";
import { pause } from "../shared/pause.ts";
import type { Db } from "../store/db/sql.ts";
import { checkpointOf } from "../store/db/meta.ts";

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
  kind: "deferred";
  /** Milliseconds. */
  retryIn: number;
}

/** A call of a request that runs foreign code. */
export interface ForeignCall extends PlannedCall {
  /** Id of the request. */
  id: string;
  appId: string;
  /** The contract whose code decides how long the simulation takes. */
  receiver: string;
}

/** All times in milliseconds. Wait of a request whose call is simulated alone now, and of one that must wait for others. */
const RETRY = { now: 2_000, later: 10_000 };
/** At most this many calls of an app are simulated alone before its others get another chance together. */
const MOST_ALONE = 100;
/** After a longer simulation, the node gets time for the other requests: `REST` times as long as the simulation took. */
const QUICK = 100;
const REST = 3;
/** How long a result is used. After that, the state of the chain may be another. */
const RESULT_LASTS = 60_000;
/** How long a receiver counts as slow after its simulation was not answered. */
const SLOW_LASTS = 600_000;
/** Results, and slow receivers, that are remembered. */
const REMEMBERED = 5_000;

/**
 * Simulates calls that run foreign code, within a time budget for each batch. A call that exhausts it is deferred: it is
 * simulated alone, while the other requests are sent. If it is not answered even then, the request is sent without a
 * simulation. Meanwhile no call of its app is simulated with a batch, so an app cannot use up the budget of every batch.
 * One instance serves all lanes of a process. It remembers in memory only: after a restart, calls are simulated again.
 */
export class ForeignSimulations {
  readonly #deps: SimulationDeps;
  /** Results of calls that ran alone, by request. */
  readonly #results = new BoundedMap<string, { result: SimulatedCall; until: number }>(REMEMBERED);
  /** By receiver, until when it counts as slow. */
  readonly #slow = new BoundedMap<string, number>(REMEMBERED);
  /** The apps whose deferred calls are simulated now. */
  readonly #alone = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  lastError: string | null = null;

  constructor(deps: SimulationDeps) {
    this.#deps = deps;
  }

  /** At `abort`, ends the simulations of the calls that were deferred. */
  async run(abort: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<null>();
    abort.addEventListener("abort", () => {
      resolve(null);
    });
    if (!abort.aborted) await promise;
    this.#stop.abort();
    await Promise.all(this.#alone.values());
  }

  /** @param block the calls run on top of it. */
  async ofBatch(calls: readonly ForeignCall[], block: number): Promise<(SimulatedCall | Deferred)[]> {
    const results = new Map<ForeignCall, SimulatedCall | Deferred>();
    for (const call of calls) {
      const known = this.#known(call);
      if (known !== undefined) results.set(call, known);
    }
    const open = calls.filter((call) => !results.has(call));
    const answers = await answersInTime(open, this.#deps.budget, (part, abort) => this.#simulate(part, block, abort));
    for (const [index, call] of open.entries()) {
      const answer = answers[index];
      results.set(call, answer === undefined ? { kind: "deferred", retryIn: RETRY.now } : answer);
    }
    const unanswered = open.filter((_, index) => answers[index] === undefined);
    if (unanswered.length > 0)
      this.#deps.logger.warn(
        { requests: unanswered.length },
        "simulations took too long; these requests are simulated alone, and sent later",
      );
    for (const [appId, ofApp] of Map.groupBy(unanswered, (call) => call.appId)) {
      // Another lane may have deferred calls of the app meanwhile. These are tried again together.
      if (this.#alone.has(appId) || this.#stop.signal.aborted) continue;
      const alone = this.#simulateDeferred(ofApp.slice(0, MOST_ALONE)).finally(() => this.#alone.delete(appId));
      this.#alone.set(appId, alone);
    }
    return calls.map((call) => results.get(call) ?? null);
  }

  #known({ id, receiver, appId }: ForeignCall): SimulatedCall | Deferred | undefined {
    const found = this.#results.get(id);
    if (found !== undefined && found.until > performance.now()) {
      const { result } = found;
      // What only one node says is asked again at a later block.
      if (result?.kind === "failed" && !result.confirmed) this.#results.delete(id);
      return result;
    }
    if (this.#isSlow(receiver)) return null;
    return this.#alone.has(appId) ? { kind: "deferred", retryIn: RETRY.later } : undefined;
  }

  #isSlow(receiver: string): boolean {
    return (this.#slow.get(receiver) ?? -Infinity) > performance.now();
  }

  /** One after another. Never throws: requests without a result are looked at again with a later batch. */
  async #simulateDeferred(calls: readonly ForeignCall[]): Promise<void> {
    const stop = this.#stop.signal;
    try {
      for (const call of calls) {
        // Another call may have shown that the receiver is slow.
        if (this.#isSlow(call.receiver)) continue;
        const started = performance.now();
        const result = await this.#simulateAlone(call, stop);
        if (stop.aborted) return;
        const now = performance.now();
        if (result === "unanswered") {
          this.#slow.set(call.receiver, now + SLOW_LASTS);
          this.#deps.logger.warn(
            { request: call.id, receiver: call.receiver },
            "a receiver's code cannot be simulated in time; its requests are sent without a simulation for ten minutes",
          );
        } else this.#results.set(call.id, { result, until: now + RESULT_LASTS });
        if (now - started > QUICK) await pause(REST * (now - started), stop);
      }
      this.lastError = null;
    } catch (error) {
      this.lastError = describeError(error);
      this.#deps.logger.warn({ err: error }, "calls cannot be simulated; their requests are looked at again later");
    }
  }

  async #simulateAlone(call: ForeignCall, stop: AbortSignal): Promise<SimulatedCall | "unanswered"> {
    const { client, read, budget } = this.#deps;
    return client.nodes.session(async () => {
      const block = await client.headNumber();
      // A node that is behind cannot tell what the call would do.
      if (block < (await checkpointOf(read))) return null;
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
