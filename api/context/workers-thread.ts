import { once } from "node:events";
import type { MessagePort, Worker } from "node:worker_threads";

import type { NodesState } from "../chain/nodes.ts";
import type { Settings } from "../config/settings.ts";
import type { Measurements } from "../metrics/meter.ts";
import type { CrashPoint } from "../shared/crash-point.ts";
import { inTime } from "../shared/pause.ts";
import { createSignals, type Signals } from "../shared/signal.ts";
import type { WriteTurns } from "../store/db/sqlite/write-turns.ts";
import type { Chain } from "./chain-identity.ts";
import type { CheckedIdentity } from "./context.ts";
import type { LoadingThread } from "./loading-thread.ts";
import { StartupError } from "./startup-error.ts";
import type { WorkerHealth } from "./workers.ts";

/** Milliseconds that the thread gets to answer. */
const ANSWER_TIMEOUT = 5_000;

/** What the HTTP thread has checked and prepared for both threads, before the workers begin. */
export interface Checked {
  chain: Chain;
  /** null: no role of the process needs the seed. */
  seedPhrase: string | null;
  lanes: readonly number[];
}

/** How the workers of a thread are, how they have found the nodes of the chain, and what the thread has measured. */
export interface Report {
  health: WorkerHealth[];
  nodes: NodesState;
  measurements: Measurements;
}

/** What the HTTP thread tells the thread of the workers. */
export type ToWorkers =
  | { start: { settings: Settings; checked: Checked; crashPoint: CrashPoint | null } }
  | { stop: true }
  | { ask: number }
  | SignalRaised;

/** What the thread of the workers tells the HTTP thread. A failure has a sentence for the operator; without one it is a bug. */
export type FromWorkers =
  | { started: true }
  | { failed: { sentence: string | null; stack: string } }
  | { answers: number; report: Report }
  | { log: string }
  | SignalRaised;

interface SignalRaised {
  signal: keyof Signals;
}

interface ThreadParts {
  crashPoint: CrashPoint | null;
  /** Writes a line that the thread logs. One thread writes them all, so lines never mix. */
  log: (line: string) => void;
  /** Called when the thread ends without being stopped. */
  ended: (error: unknown) => void;
}

/**
 * The thread that runs the background workers, so that their work never delays an HTTP answer. Seen from the HTTP thread.
 * They share signals and take turns at writing; everything else they share through the database, like separate processes.
 * When it ends by an error, the process must end: a service that only accepts requests would look healthy.
 */
export class WorkersThread {
  readonly signals = createSignals();
  readonly turns: WriteTurns;
  readonly #worker: Worker;
  readonly #crashPoint: CrashPoint | null;
  readonly #exited: Promise<unknown>;
  readonly #started = Promise.withResolvers<undefined>();
  readonly #asked = new Map<number, (report: Report) => void>();
  #question = 0;
  #stopping = false;

  constructor({ worker, turns }: LoadingThread, { crashPoint, log, ended }: ThreadParts) {
    this.turns = turns;
    this.#worker = worker;
    this.#crashPoint = crashPoint;
    this.#exited = once(worker, "exit");
    worker.on("message", (message: FromWorkers) => {
      if ("log" in message) log(message.log);
      if ("signal" in message) this.signals[message.signal].raise();
      if ("answers" in message) this.#asked.get(message.answers)?.(message.report);
      if ("started" in message) this.#started.resolve(undefined);
      if ("failed" in message) this.#fail(message.failed);
    });
    const end = (error: unknown) => {
      if (!this.#stopping) ended(error);
    };
    worker.on("error", end);
    worker.on("exit", (status) => {
      end(new Error(`the thread ended with status ${status.toString()}`));
    });
    forwardSignals(this.signals, worker);
  }

  /** Starts the workers. @throws StartupError */
  begin(settings: Settings, { chain, keys, lanes }: CheckedIdentity): Promise<undefined> {
    const checked = { chain, lanes, seedPhrase: keys.seedPhrase };
    this.#send({ start: { settings, checked, crashPoint: this.#crashPoint } });
    return this.#started.promise;
  }

  /** @returns null when the thread does not answer in time. */
  report(): Promise<Report | null> {
    const question = this.#question++;
    const answer = new Promise<Report>((resolve) => this.#asked.set(question, resolve));
    this.#send({ ask: question });
    return inTime<Report | null>(answer, ANSWER_TIMEOUT, () => null).finally(() => this.#asked.delete(question));
  }

  /** Stops the workers and ends the thread. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#send({ stop: true });
    await this.#exited;
  }

  #fail({ sentence, stack }: { sentence: string | null; stack: string }): void {
    this.#stopping = true;
    const bug = `the background workers cannot start: ${stack}`;
    this.#started.reject(sentence === null ? new Error(bug) : new StartupError(sentence));
  }

  #send(message: ToWorkers): void {
    this.#worker.postMessage(message);
  }
}

/** Passes the signals that are raised in this thread to the other one. Those of one event-loop turn share a message. */
export function forwardSignals(signals: Signals, other: MessagePort | Worker): void {
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
