import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import type { Usage } from "./usage.ts";

/** A message to `preload.ts` in the measured process. */
export type Order = { usage: true } | { startProfile: true } | { writeProfile: string };

/** Reads what `preload.ts` measures inside a process. */
export class Instruments {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  usage(): Promise<Usage> {
    return this.#ask<Usage>({ usage: true });
  }

  async startProfile(): Promise<void> {
    await this.#ask({ startProfile: true });
  }

  /** Writes a CPU profile of the time since `startProfile`. */
  async writeProfile(file: string): Promise<void> {
    await this.#ask({ writeProfile: file });
  }

  async #ask<T>(order: Order): Promise<T> {
    const answered = once(this.#child, "message");
    this.#child.send(order);
    const [answer] = (await answered) as [T];
    return answer;
  }
}
