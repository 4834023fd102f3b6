import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { CrashPoint } from "../../api/shared/crash-point.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** What the campaign tells a process to do: see `preload.ts`. */
export interface Control {
  clockOffset?: number;
  disk?: "ok" | "full" | "read-only";
  /** The process kills itself when it reaches this point. */
  crashPoint?: CrashPoint;
}

/** A process of the service, which the campaign can kill, freeze and control. */
export class ServiceProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /**
   * Resolves when the service accepts calls. A process with a crash point may also die at this point before it does.
   * @throws with the standard error output when the process exits in another way.
   */
  static async start(env: Record<string, string>, logFile: string): Promise<ServiceProcess> {
    const child = fork(join(ROOT, "api", "main.ts"), [], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], ...env },
      execArgv: ["--import", join(import.meta.dirname, "preload.ts")],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const log = createWriteStream(logFile, { flags: "a" });
    child.stderr?.pipe(log);
    const errors: string[] = [];
    child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
    if (child.stdout === null) throw new Error("the process has no output");
    child.stdout.pipe(log);
    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => {
        if (line.includes('"msg":"serving"')) resolve();
      });
      child.once("exit", (_, signal) => {
        if (env["CRASH_POINT"] !== undefined && signal === "SIGKILL") resolve();
        else reject(new Error(`the service did not start: ${errors.join("")}`));
      });
    });
    return new ServiceProcess(child);
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the service is not running");
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async gone(): Promise<void> {
    if (this.running) await once(this.#child, "exit");
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.gone();
  }

  /** How the process ended, if the campaign did not end it. */
  get unexpectedEnd(): string | null {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null) return `exit code ${exitCode.toString()}`;
    return signalCode === null || signalCode === "SIGKILL" ? null : signalCode;
  }

  /** Waits until the command is in effect. */
  async control(command: Control): Promise<void> {
    const answered = once(this.#child, "message");
    this.#child.send(command);
    await answered;
  }

  /** Sends SIGTERM, on which the process ends its work first. */
  async stop(): Promise<void> {
    this.signal("SIGTERM");
    await this.gone();
  }

  /** Memory use in bytes after a garbage collection. */
  async memory(): Promise<{ heapUsed: number; rss: number }> {
    const answered = once(this.#child, "message");
    this.#child.send({ measure: true });
    const [usage] = (await answered) as [{ heapUsed: number; rss: number }];
    return usage;
  }
}
