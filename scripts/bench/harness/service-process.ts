import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Instruments } from "./instruments.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const STOP_DEADLINE = 15_000;

/** The service as a separate process, with counters inside. */
export class ServiceProcess {
  readonly #child: ChildProcess;
  /** Where it answers HTTP calls; null without the role `api`. */
  readonly url: string | null;
  readonly roles: string;
  readonly instruments: Instruments;

  private constructor(child: ChildProcess, url: string | null, roles: string) {
    this.#child = child;
    this.instruments = new Instruments(child);
    this.url = url;
    this.roles = roles;
  }

  /** Resolves when the service runs. @throws Error with its last output if it exits before that. */
  static async start(env: Record<string, string>, logFile: string, roles: string): Promise<ServiceProcess> {
    const child = fork(join(ROOT, "api", "main.ts"), [], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], PORT: "0", RATE_LIMIT_PER_MINUTE: "100000000", ...env, ROLES: roles },
      execArgv: ["--import", join(import.meta.dirname, "preload.ts")],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const log = createWriteStream(logFile, { flags: "a" });
    const output: string[] = [];
    child.stderr?.on("data", (chunk: Buffer) => output.push(chunk.toString()));
    child.stderr?.pipe(log);
    if (child.stdout === null) throw new Error("the process has no output");
    const { stdout } = child;
    const lines = createInterface({ input: stdout });
    const port = await new Promise<number | null>((resolve, reject) => {
      lines.on("line", (line) => {
        log.write(`${line}\n`);
        if (line.includes('"msg":"serving"')) resolve((JSON.parse(line) as { port: number | null }).port);
      });
      child.once("exit", () => {
        reject(new Error(`the service did not start: ${output.join("")}`));
      });
    });
    // Reading each line would be work for this process, which makes the load.
    lines.close();
    stdout.pipe(log);
    return new ServiceProcess(child, port === null ? null : `http://127.0.0.1:${port.toString()}`, roles);
  }

  /** 0 when it could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const force = setTimeout(() => this.#child.kill("SIGKILL"), STOP_DEADLINE);
    await gone;
    clearTimeout(force);
  }
}
