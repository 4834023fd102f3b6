import { join } from "node:path";

import { Program } from "../../scene/program.ts";

/** A message to the process of the receivers. */
export type Order =
  /** Forget all calls, and report `Arrivals` once `total` calls have arrived. */
  | { expect: { warmUp: number; total: number } }
  /** Verify the calls with the secrets of the receivers, and report `Verified`. */
  | { verify: readonly string[] }
  /** Close the connections of the dead receiver. */
  | { hangUp: true };

/** Times on the monotonic clock that all processes of a machine share, in milliseconds. */
export interface Arrivals {
  /** When the last call of the warm-up arrived. */
  warmAt: number;
  lastAt: number;
}

export interface Verified {
  calls: number;
  distinct: number;
  badSignatures: number;
}

/** Milliseconds on the monotonic clock that all processes of a machine share. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Receivers of webhooks in a separate process, so that their work is not that of a sender. */
export class Receivers {
  readonly #process: Program;
  /** Where the receivers that answer listen. */
  readonly urls: readonly string[];
  /** Where the receiver listens that accepts connections and never answers. */
  readonly deadUrl: string;

  private constructor(process: Program, urls: readonly string[], deadUrl: string) {
    this.#process = process;
    this.urls = urls;
    this.deadUrl = deadUrl;
  }

  static async start(count: number): Promise<Receivers> {
    const process = new Program([join(import.meta.dirname, "receivers.ts"), count.toString()], { channel: true });
    const { urls, deadUrl } = await process.message<{ urls: string[]; deadUrl: string }>();
    return new Receivers(process, urls, deadUrl);
  }

  /** Forgets all calls. @returns the times at which the next ones arrive; a promise in an object, to be awaited later. */
  async expect(expected: { warmUp: number; total: number }): Promise<{ arrived: Promise<Arrivals> }> {
    await this.#ask({ expect: expected });
    return { arrived: this.#process.message<Arrivals>() };
  }

  verify(secrets: readonly string[]): Promise<Verified> {
    return this.#ask<Verified>({ verify: secrets });
  }

  async hangUp(): Promise<void> {
    await this.#ask({ hangUp: true });
  }

  async stop(): Promise<void> {
    await this.#process.end("SIGTERM");
  }

  #ask<T>(order: Order): Promise<T> {
    return this.#process.ask<T>(order);
  }
}
