import { once } from "node:events";
import type { MessagePort, Worker } from "node:worker_threads";

import type { Logger } from "pino";

import type { NodesState } from "../chain/nodes.ts";
import type { Settings } from "../config/settings.ts";
import type { LoadingThread } from "./loading-thread.ts";
import type { Measurements } from "../metrics/meter.ts";
import { inTime } from "../shared/pause.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import type { Checked, Service } from "./service.ts";
import { StartupError } from "./startup-error.ts";
import type { WorkerHealth } from "./workers.ts";

/**
 * Starts HTTP in this thread and the background workers in another. They share the process's signals and take turns at writing;
 * everything else they share through the database, like separate processes.
 * @throws like `startService`
 */
export async function startInThreads(settings: Settings, logger: Logger, code: PipelineCode): Promise<Service> {
  const shared = { signals: createSignals(), turns: code.thread.turns };
  const pipeline = new PipelineThread(code, shared.signals);
  try {
    const { startService } = await import("./service.ts");
    const service = await startService({ ...settings, roles: ["api"] }, logger, {
      ...shared,
      pipeline,
    });
    let stopped: Promise<void> | null = null;
    const stop = async () => {
      await service.stop();
      await pipeline.stop();
    };
    return { ...service, stop: () => (stopped ??= stop()) };
  } catch (error) {
    await pipeline.stop();
    throw error;
  }
}

/** Milliseconds that the thread gets to answer a question. */
const ANSWER_TIMEOUT = 5_000;

/** What the HTTP thread asks, and the methods of the service that answer. */
type Question = "health" | "measurements" | "nodes";
type Answer<Q extends Question> = Awaited<ReturnType<Service[Q]>>;

interface PipelineCode {
  thread: LoadingThread;
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
  readonly #asked = new Map<number, (answer: never) => void>();
  #question = 0;
  #stopping = false;

  constructor(code: PipelineCode, signals: Signals) {
    this.#signals = signals;
    this.#worker = code.thread.worker;
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
  async start(checked: Checked): Promise<void> {
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
    this.#send({ start: checked });
    await started;
    forwardSignals(this.#signals, this.#worker);
  }

  /** How the workers are. A thread that does not answer is reported like a worker that fails. */
  async health(): Promise<WorkerHealth[]> {
    const unknown = [{ name: "pipeline", critical: true, lastError: "its thread does not answer" }];
    return (await this.#ask("health")) ?? unknown;
  }

  /** How the nodes of the chain are for the thread; null when it does not answer. */
  nodes(): Promise<NodesState | null> {
    return this.#ask("nodes");
  }

  /** What the thread has measured; null when it does not answer. */
  measurements(): Promise<Measurements | null> {
    return this.#ask("measurements");
  }

  /** @returns null when the thread does not answer in time. */
  #ask<Q extends Question>(ask: Q): Promise<Answer<Q> | null> {
    const question = this.#question++;
    const answer = new Promise<Answer<Q>>((resolve) => this.#asked.set(question, resolve));
    this.#send({ ask, question });
    return inTime<Answer<Q> | null>(answer, ANSWER_TIMEOUT, () => null).finally(() => this.#asked.delete(question));
  }

  /** Stops the workers and ends the thread. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#send({ stop: true });
    await this.#exited;
  }

  #receive(message: FromPipeline): void {
    if ("signal" in message) this.#signals[message.signal].raise();
    if ("question" in message) this.#asked.get(message.question)?.(message.answer as never);
  }

  #send(message: ToPipeline): void {
    this.#worker.postMessage(message);
  }
}

/** What the HTTP thread tells the pipeline thread. */
export type ToPipeline = { start: Checked } | { stop: true } | { ask: Question; question: number } | SignalRaised;

/** What the pipeline thread tells the HTTP thread. A failure has a sentence for the operator; without one it is a bug. */
export type FromPipeline =
  | { started: true }
  | { failed: { sentence: string | null; stack: string } }
  | { question: number; answer: Answer<Question> }
  | { log: string }
  | SignalRaised;

interface SignalRaised {
  signal: keyof Signals;
}

/** Passes the signals that are raised in this thread to the other one. Those of one event-loop turn share a message. */
export function forwardSignals(signals: Signals, other: Pick<MessagePort | Worker, "postMessage">): void {
  const raised = new Set<keyof Signals>();
  for (const name of Object.keys(signals) as (keyof Signals)[]) {
    signals[name].forward = () => {
      if (raised.size === 0) {
        setImmediate(() => {
          for (const signal of raised) other.postMessage({ signal } satisfies SignalRaised);
          raised.clear();
        });
      }
      raised.add(name);
    };
  }
}
