import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

import { type FileResult, type Message, messageSchema, type Order } from "./messages.ts";
import { CONTRACTS, type Job, type Place } from "./plan.ts";
import type { Result } from "./report.ts";

/**
 * A worker that says nothing for so long hangs, and is killed. It says something after each test and each hook, and Mocha ends
 * those after ten minutes.
 */
const SILENCE_MS = 15 * 60_000;
const CHECK_MS = 10_000;
/** How long a worker may take to clean up after its last file. */
const END_MS = 60_000;

const ENVIRONMENTS: Record<Place, Record<string, string>> = {
  sqlite: { TEST_ENGINE: "sqlite" },
  postgres: { TEST_ENGINE: "postgres" },
  embedded: { TEST_ENGINE: "postgres", POSTGRES: "embedded" },
};

/**
 * Runs the jobs on some workers at the same time. A worker keeps its process, and so its node, its service and its database
 * server, as long as there are jobs for its engine.
 * @param report is called for each file as soon as it is done.
 */
export async function runJobs(jobs: readonly Job[], workers: number, report: (result: Result) => void): Promise<void> {
  const queues = new Map<Place, Job[]>();
  for (const job of jobs) queues.set(job.place, [...(queues.get(job.place) ?? []), job]);
  const serving = new Map<Place, number>();
  const serve = (place: Place, by: number) => serving.set(place, (serving.get(place) ?? 0) + by);

  /** The engine with the most jobs for each of its workers. */
  function longestQueue(): Place | undefined {
    const load = (place: Place) => (queues.get(place)?.length ?? 0) / ((serving.get(place) ?? 0) + 1);
    const [place] = [...queues.keys()].sort((one, other) => load(other) - load(one));
    return place !== undefined && load(place) > 0 ? place : undefined;
  }

  async function end(worker: Worker | null): Promise<void> {
    const failure = (await worker?.end()) ?? null;
    if (failure !== null) report(failure);
  }

  async function work(): Promise<void> {
    for (let place = longestQueue(); place !== undefined; place = longestQueue()) {
      serve(place, 1);
      const queue = queues.get(place) ?? [];
      let worker: Worker | null = null;
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
        if (job.path === CONTRACTS) await runAlone("contracts.ts", job, report);
        else {
          if (worker?.isAlive !== true) {
            await end(worker);
            worker = new Worker(place);
          }
          report(await worker.run(job));
        }
      }
      await end(worker);
      serve(place, -1);
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, work));
}

/** A child process that sends messages. */
class Runner {
  readonly child: ChildProcess;
  readonly closed: Promise<void>;
  /** Its output since the last result. It is shown only if the result is a failure. */
  output = "";
  isAlive = true;
  /** Called with each message but signs of life. */
  received: (message: Exclude<Message, { alive: true }>) => void = () => undefined;
  #lastMessage = performance.now();

  constructor(entry: string, place: Place) {
    this.child = fork(join(import.meta.dirname, entry), [], {
      env: { ...process.env, ...ENVIRONMENTS[place], MONETA_TEST_WORKER: "1" },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.child.on("message", (sent) => {
      this.#lastMessage = performance.now();
      const message = messageSchema.parse(sent);
      if (!("alive" in message)) this.received(message);
    });
    const watch = setInterval(() => {
      if (performance.now() - this.#lastMessage < SILENCE_MS) return;
      this.output += "\nThe test runner was killed, because it did nothing for 15 minutes.";
      this.child.kill("SIGKILL");
    }, CHECK_MS);
    this.closed = new Promise((resolve) => {
      this.child.once("close", () => {
        clearInterval(watch);
        this.isAlive = false;
        resolve();
      });
    });
  }

  /** A failure with all that the process has printed. */
  failure(path: string, place: Place, title: string): Result {
    const failures = [{ title, text: `  ${title}:\n${this.output}` }];
    return { path, place, seconds: 0, passed: 0, failed: 1, skipped: 0, failures };
  }
}

/** A process that runs one test file after the other. */
class Worker {
  readonly #place: Place;
  readonly #runner: Runner;
  #next: Promise<FileResult | null>;
  /** The file before: it may have left something that fails later. */
  #before = "none";
  /** Whether its end was reported as a failure. */
  #isReported = false;

  constructor(place: Place) {
    this.#place = place;
    this.#runner = new Runner("worker.ts", place);
    this.#next = this.#untilIdle();
  }

  get isAlive(): boolean {
    return this.#runner.isAlive;
  }

  async run({ path }: Job): Promise<Result> {
    const runner = this.#runner;
    // It has started, or is done with the file before.
    await this.#next;
    runner.output = "";
    this.#next = this.#untilIdle();
    if (runner.isAlive) runner.child.send({ run: path } satisfies Order);
    const result = await this.#next;
    if (!runner.isAlive) {
      this.#isReported = true;
      const title = `the process of the tests ended while the file ran (the file before: ${this.#before})`;
      return runner.failure(path, this.#place, title);
    }
    this.#before = path;
    return { ...(result ?? NO_TESTS), path, place: this.#place };
  }

  /** Lets it clean up and end. @returns the failure, if that fails, or if it has ended by itself since the last file. */
  async end(): Promise<Result | null> {
    const runner = this.#runner;
    if (this.#isReported) return null;
    if (!runner.isAlive)
      return runner.failure(this.#before, this.#place, "the process of the tests ended after the file");
    runner.output = "";
    runner.child.send({ end: true } satisfies Order);
    const late = setTimeout(() => runner.child.kill("SIGKILL"), END_MS);
    await runner.closed;
    clearTimeout(late);
    // One that was killed here was late, which is not a failure.
    if (runner.child.killed || runner.child.exitCode === 0) return null;
    return runner.failure(this.#before, this.#place, "cleaning up failed after this file, the last one of its process");
  }

  /** Resolves when it waits for an order, or has ended. @returns the result that it sent meanwhile. */
  async #untilIdle(): Promise<FileResult | null> {
    let result: FileResult | null = null;
    const idle = new Promise<void>((resolve) => {
      this.#runner.received = (message) => {
        if ("file" in message) result = message.file;
        else resolve();
      };
    });
    await Promise.race([idle, this.#runner.closed]);
    return result;
  }
}

/** A file can have no tests for the engine. */
const NO_TESTS = { seconds: 0, passed: 0, failed: 0, skipped: 0, failures: [] };

/**
 * Runs what has a process of its own and sends several results: Hardhat with the tests of the contracts. Its failure counts, unless
 * a failed test explains it.
 * @param entry file of the program.
 */
export async function runAlone(entry: string, { path, place }: Job, report: (result: Result) => void): Promise<void> {
  const runner = new Runner(entry, place);
  const counts = { files: 0, failed: 0 };
  runner.received = (message) => {
    if (!("file" in message)) return;
    counts.files++;
    counts.failed += message.file.failed;
    report({ ...message.file, place });
  };
  await runner.closed;
  if (counts.files === 0 || (runner.child.exitCode !== 0 && counts.failed === 0)) {
    report(runner.failure(path, place, "Hardhat failed although no test failed"));
  }
}
