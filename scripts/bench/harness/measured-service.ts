import { join } from "node:path";

import { Program } from "../../scene/program.ts";
import { ServiceProcess } from "../../scene/service.ts";
import type { Usage } from "./usage.ts";

const PRELOAD = join(import.meta.dirname, "preload.ts");

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

/** The service as a separate process, with counters inside. */
export class MeasuredService extends ServiceProcess {
  readonly instruments = new Instruments(this);

  static async open(this: void, env: Record<string, string>, log: string, roles: string): Promise<MeasuredService> {
    const settings = {
      PORT: "0",
      RATE_LIMIT_PER_MINUTE: "100000000",
      PUBLIC_RATE_LIMIT_PER_MINUTE: "100000000",
      BATCH_ITEMS_PER_MINUTE: "100000000",
      ...env,
      ROLES: roles,
    };
    const service = new MeasuredService(settings, log, PRELOAD);
    await service.serving();
    return service;
  }
}

/** Another program as a separate process, with the same counters inside. */
export class MeasuredProgram extends Program {
  readonly instruments = new Instruments(this);

  constructor(args: string[]) {
    super(["--import", PRELOAD, ...args], { channel: true });
  }
}
