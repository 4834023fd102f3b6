import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = join(import.meta.dirname, "..", "..");

/** The service as a process that can be killed, frozen and lied to. */
export class ApiProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when it serves. @throws with its last words when it ends before that. */
  static async start(env: Record<string, string>, logFile: string): Promise<ApiProcess> {
    const child = fork(join(ROOT, "api", "main.ts"), [], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], ...env },
      execArgv: ["--import", "tsx", "--import", join(import.meta.dirname, "preload.ts")],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const log = createWriteStream(logFile, { flags: "a" });
    child.stderr?.pipe(log);
    const words: string[] = [];
    child.stderr?.on("data", (chunk: Buffer) => words.push(chunk.toString()));
    if (child.stdout === null) throw new Error("the process has no output");
    child.stdout.pipe(log);
    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => {
        if (line.includes('"msg":"serving"')) resolve();
      });
      child.once("exit", () => {
        reject(new Error(`the service did not start: ${words.join("")}`));
      });
    });
    return new ApiProcess(child);
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

  /** Moves the clock or takes the disk away, and waits until it is so. */
  async order(order: { clockOffset?: number; disk?: "ok" | "full" | "read-only" }): Promise<void> {
    const answered = once(this.#child, "message");
    this.#child.send(order);
    await answered;
  }

  /** What the process needs, in bytes, once it has collected its garbage. */
  async memory(): Promise<{ heapUsed: number; rss: number }> {
    const answered = once(this.#child, "message");
    this.#child.send({ measure: true });
    const [usage] = (await answered) as [{ heapUsed: number; rss: number }];
    return usage;
  }
}
