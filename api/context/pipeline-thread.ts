import { once } from "node:events";
import { Worker } from "node:worker_threads";

import type { Measurements } from "../metrics/meter.ts";
import type { Signals } from "../shared/signal.ts";
import type { WriteTurns } from "../store/db/write-turns.ts";
import { StartupError } from "./startup-error.ts";
import { forwardSignals, type FromPipeline, type ToPipeline } from "./thread-messages.ts";
import type { WorkerHealth } from "./workers.ts";

/** Milliseconds that the thread gets to answer a question. */
const ANSWER_TIMEOUT = 5_000;

type Answer = Extract<FromPipeline, { health: number } | { metrics: number }>;

export interface PipelineCode {
  /** The file that the thread runs. */
  entry: URL;
  /** Writes a line that the thread logs. One thread writes them all, so lines never mix. */
  log: (line: string) => void;
  /** Called when the thread ends without being stopped. */
  ended: (error: unknown) => void;
}

/**
 * The thread that runs the background workers, so that their work never delays an HTTP answer. Seen from the HTTP thread.
 * When it ends by an error, the process must end: a service that only accepts requests would look healthy.
 */
export class PipelineThread {
  readonly #worker: Worker;
  readonly #signals: Signals;
  readonly #exited: Promise<unknown>;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #question = 0;
  #stopping = false;

  /** Loads the thread's code. It does nothing else before `start`. */
  constructor(code: PipelineCode, shared: { signals: Signals; turns: WriteTurns }) {
    this.#signals = shared.signals;
    this.#worker = new Worker(code.entry, { workerData: shared.turns.shared });
    this.#exited = once(this.#worker, "exit");
    this.#worker.on("message", (message: FromPipeline) => {
      if ("log" in message) code.log(message.log);
      else this.#receive(message);
    });
    const ended = (error: unknown) => {
      if (!this.#stopping) code.ended(error);
    };
    this.#worker.on("error", ended);
    this.#worker.on("exit", (status) => {
      ended(new Error(`the thread ended with status ${status.toString()}`));
    });
  }

  /** Starts the workers. Call it when the database and the chain are checked. @throws StartupError */
  async start(): Promise<void> {
    const started = new Promise<void>((resolve, reject) => {
      this.#worker.on("message", (message: FromPipeline) => {
        if ("started" in message) resolve();
        if ("failed" in message) {
          this.#stopping = true;
          const { sentence, stack } = message.failed;
          reject(
            sentence === null ? new Error(`the background workers cannot start: ${stack}`) : new StartupError(sentence),
          );
        }
      });
    });
    this.#send({ start: true });
    await started;
    forwardSignals(this.#signals, this.#worker);
  }

  /** How the workers are. A thread that does not answer is reported like a worker that fails. */
  async health(): Promise<WorkerHealth[]> {
    const answer = await this.#ask((question) => ({ health: question }));
    if (answer !== null && "health" in answer) return answer.workers;
    return [{ name: "pipeline", critical: true, lastError: "its thread does not answer" }];
  }

  /** What the thread has measured; null when it does not answer. */
  async measurements(): Promise<Measurements | null> {
    const answer = await this.#ask((question) => ({ metrics: question }));
    return answer !== null && "metrics" in answer ? answer.measurements : null;
  }

  /** @returns null when the thread does not answer in time. */
  async #ask(message: (question: number) => ToPipeline): Promise<Answer | null> {
    const question = this.#question++;
    const { promise, resolve } = Promise.withResolvers<Answer | null>();
    const timer = setTimeout(() => {
      resolve(null);
    }, ANSWER_TIMEOUT);
    this.#asked.set(question, resolve);
    this.#send(message(question));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#asked.delete(question);
    }
  }

  /** Stops the workers and ends the thread. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#send({ stop: true });
    await this.#exited;
  }

  #receive(message: FromPipeline): void {
    if ("signal" in message) this.#signals[message.signal].raise();
    if ("health" in message) this.#asked.get(message.health)?.(message);
    if ("metrics" in message) this.#asked.get(message.metrics)?.(message);
  }

  #send(message: ToPipeline): void {
    this.#worker.postMessage(message);
  }
}
