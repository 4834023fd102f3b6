import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");

/** Settings of the service: tests make far more calls than an app, and a slow machine must not give up a simulation. */
const FOR_TESTS = { RATE_LIMIT_PER_MINUTE: "1000000", SIMULATION_SECONDS: "20" };

/** A program of the project in a separate process, with its output so far. */
export class TestProcess {
  readonly child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #output = "";
  #isClosed = false;
  #changed: (() => void)[] = [];

  /** @param args for Node, TypeScript entry included, unless another program is named. */
  constructor(args: string[], env: Record<string, string>, program: string = process.execPath) {
    this.child = spawn(program, args, {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...FOR_TESTS, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output += chunk.toString();
        this.#wake();
      });
    }
    // Not "exit": the rest of the output may come after it.
    this.#closed = once(this.child, "close").then(() => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  get output(): string {
    return this.#output;
  }

  get exited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Resolves when the output matches. @throws when the process ends, or the time is over, before that. */
  async printed(pattern: RegExp, timeoutMs = 240_000): Promise<RegExpExecArray> {
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found !== null) return found;
      if (this.#isClosed) throw new Error(`the process ended without printing ${String(pattern)}:\n${this.#output}`);
      if (deadline.aborted) throw new Error(`nothing matched ${String(pattern)} in time:\n${this.#output}`);
      await this.#change(deadline);
    }
  }

  /** Sends the signal and waits until the process has ended. @returns the exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    this.child.kill(signal);
    return this.gone();
  }

  /** Waits until the process has ended, and all of its output is here. */
  async gone(): Promise<number | NodeJS.Signals> {
    await this.#closed;
    return this.child.signalCode ?? this.child.exitCode ?? 0;
  }

  #change(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#changed.push(resolve);
      deadline.addEventListener("abort", () => {
        resolve();
      });
    });
  }

  #wake(): void {
    for (const wake of this.#changed.splice(0)) wake();
  }
}
