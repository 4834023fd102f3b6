import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

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
  readonly #child: ChildProcess;
  /** Where the receivers that answer listen. */
  readonly urls: readonly string[];
  /** Where the receiver listens that accepts connections and never answers. */
  readonly deadUrl: string;

  private constructor(child: ChildProcess, urls: readonly string[], deadUrl: string) {
    this.#child = child;
    this.urls = urls;
    this.deadUrl = deadUrl;
  }

  static async start(count: number): Promise<Receivers> {
    const child = fork(join(import.meta.dirname, "receivers.ts"), [count.toString()], {
      execArgv: [],
    });
    const [{ urls, deadUrl }] = (await once(child, "message")) as [{ urls: string[]; deadUrl: string }];
    return new Receivers(child, urls, deadUrl);
  }

  /** Forgets all calls. @returns the times at which the next ones arrive; a promise in an object, to be awaited later. */
  async expect(expected: { warmUp: number; total: number }): Promise<{ arrived: Promise<Arrivals> }> {
    await this.#ask({ expect: expected });
    return { arrived: once(this.#child, "message").then(([arrivals]) => arrivals as Arrivals) };
  }

  verify(secrets: readonly string[]): Promise<Verified> {
    return this.#ask<Verified>({ verify: secrets });
  }

  async hangUp(): Promise<void> {
    await this.#ask({ hangUp: true });
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.kill();
    await gone;
  }

  async #ask<T>(order: Order): Promise<T> {
    const answered = once(this.#child, "message");
    this.#child.send(order);
    const [answer] = (await answered) as [T];
    return answer;
  }
}
