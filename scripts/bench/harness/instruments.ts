import type { Program } from "../../scene/program.ts";
import type { Usage } from "./usage.ts";

/** A message to `preload.ts` in the measured process. */
export type Order = { usage: true } | { startProfile: true } | { writeProfile: string };

/** Reads what `preload.ts` measures inside a process. */
export class Instruments {
  readonly #process: Program;

  constructor(process: Program) {
    this.#process = process;
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

  #ask<T>(order: Order): Promise<T> {
    return this.#process.ask<T>(order);
  }
}
