import { join } from "node:path";

import type { CrashPoint } from "../../api/shared/crash-point.ts";
import { ServiceProcess } from "../scene/service.ts";

/** What the campaign tells a process to do: see `preload.ts`. */
export interface Control {
  clockOffset?: number;
  disk?: "ok" | "full" | "read-only";
  /** The process kills itself when it reaches this point. */
  crashPoint?: CrashPoint;
}

/** A process of the service whose clock and disk the campaign controls. */
export class ControlledService extends ServiceProcess {
  static async open(env: Record<string, string>, log: string): Promise<ControlledService> {
    const service = new ControlledService(env, log, join(import.meta.dirname, "preload.ts"));
    await service.serving();
    return service;
  }

  /** How the process ended, if the campaign did not end it. */
  get unexpectedEnd(): string | null {
    const { exitCode, signalCode } = this.child;
    if (exitCode !== null) return `exit code ${exitCode.toString()}`;
    return signalCode === null || signalCode === "SIGKILL" ? null : signalCode;
  }

  /** Waits until the command is in effect. */
  async control(command: Control): Promise<void> {
    await this.ask(command);
  }

  /** Memory use in bytes after a garbage collection. */
  memory(): Promise<{ heapUsed: number; rss: number }> {
    return this.ask({ measure: true });
  }
}
