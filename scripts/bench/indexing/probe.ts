import { setTimeout as wait } from "node:timers/promises";

import { type Call, Load } from "../harness/load.ts";

/** Milliseconds between two calls. */
const EVERY = 10;

/** What calls took, in milliseconds. */
interface Answers {
  calls: number;
  p99: number;
  slowest: number;
}

/** Calls the API on one connection, one call after the other, until it is stopped. */
export class Probe {
  readonly #load: Load;
  readonly #calls: readonly Call[];
  readonly #times: number[] = [];
  readonly #running: Promise<void>;
  #stopped = false;

  private constructor(load: Load, calls: readonly Call[]) {
    this.#load = load;
    this.#calls = calls;
    this.#running = this.#run();
    // `stop` throws it.
    this.#running.catch(() => undefined);
  }

  /** Makes each call once before the measurement, because the first call of a process is slower. */
  static async start(url: string, token: string, calls: readonly Call[]): Promise<Probe> {
    const load = new Load([url], 1, token);
    for (const call of calls) await load.send(call);
    return new Probe(load, calls);
  }

  /** @throws what ended the calls early. */
  async stop(): Promise<Answers> {
    this.#stopped = true;
    await this.#running;
    await this.#load.close();
    return answersOf([this.#times]);
  }

  get times(): readonly number[] {
    return this.#times;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      for (const call of this.#calls) {
        const started = performance.now();
        await this.#load.send(call);
        this.#times.push(performance.now() - started);
        await wait(EVERY);
      }
    }
  }
}

export function answersOf(times: readonly (readonly number[])[]): Answers {
  const sorted = times.flat().sort((a, b) => a - b);
  return {
    calls: sorted.length,
    p99: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? NaN,
    slowest: sorted.at(-1) ?? NaN,
  };
}
