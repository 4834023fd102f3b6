import type { Logger } from "pino";

import { type Backoff, backoff } from "../domain/backoff.ts";
import { pause } from "./pause.ts";
import type { Signal } from "./signal.ts";

/**
 * What one step of a loop found.
 * `again`: it did something, and there may be more right away.
 * `idle`: there is nothing to do.
 * `full`: it did not look, because everything that may run at once is running.
 */
export type StepResult = "again" | "idle" | "full";

export interface WorkLoopOptions {
  logger: Logger;
  /** Announces new work. */
  wake: Signal;
  /** How often to look for work that no signal announced: from another process, or due at a time. In milliseconds. */
  pollInterval: number;
  /** Log messages: the work fails, and it succeeds again. */
  messages: { failed: string; recovered: string };
  /** The text of an error for `lastError`. Default: the error's message. */
  describe?: (error: unknown) => string;
  /** Errors with the same key count as the same error and are logged once. Default: the text of `describe`. */
  keyOf?: (error: unknown) => string;
  /** Fields that the log line of an error has in addition. */
  fieldsOf?: (error: unknown) => object;
  /** Wait after the first error, in milliseconds. It doubles with each further one up to `longest`. */
  backoff?: Backoff;
  /** Replaced in tests. */
  wait?: (milliseconds: number, abort: AbortSignal) => Promise<void>;
}

const BACKOFF = { first: 500, longest: 5_000 };

/**
 * The loop of every background worker. It calls a step again and again: at once while there is work, otherwise at the
 * next signal or poll. After an error it backs off. It logs an error when it appears or changes, and once more when the
 * work succeeds again, however often it retries in between.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  #lastError: string | null = null;
  #lastKey: string | null = null;
  #failures = 0;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
  }

  /** Why the worker cannot work now; null when it can. Shown to the operator; `readyz` only says that it fails. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Runs until `abort`. Errors end only the step in which they occur. */
  async run(step: (abort: AbortSignal) => Promise<StepResult>, abort: AbortSignal): Promise<void> {
    const { wake, pollInterval, wait = pause } = this.#options;
    const aborted = () => abort.aborted;
    while (!aborted()) {
      try {
        const result = await step(abort);
        // A step that was aborted, or that did not look for work, does not show that the work succeeds.
        if (result !== "full" && !aborted()) this.recovered();
        if (result !== "again") await wake.wait(pollInterval, abort);
      } catch (error) {
        this.report(error);
        await wait(this.#nextBackoff(), abort);
      }
    }
  }

  /** Records an error, also one from outside the step, and logs it unless it is the one that was logged last. */
  report(error: unknown): void {
    const { logger, messages, describe = messageOf, keyOf = describe, fieldsOf } = this.#options;
    const key = keyOf(error);
    if (key !== this.#lastKey) logger.error({ err: error, ...fieldsOf?.(error) }, messages.failed);
    this.#lastError = describe(error);
    this.#lastKey = key;
  }

  /** Records that the work succeeds. The loop calls it after each step; a long step calls it as soon as it knows. */
  recovered(): void {
    if (this.#lastError !== null) this.#options.logger.info(this.#options.messages.recovered);
    this.#lastError = this.#lastKey = null;
    this.#failures = 0;
  }

  #nextBackoff(): number {
    const wait = backoff(this.#options.backoff ?? BACKOFF, this.#failures);
    this.#failures += 1;
    return wait;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Starts workers. If one ends by an error, Node ends the process: a service that only accepts requests would look healthy.
 * @param opened stops them, and waits until they have stopped.
 */
export function runWorkers(
  workers: readonly { worker: { run(abort: AbortSignal): Promise<void> } }[],
  opened: AsyncDisposableStack,
): void {
  const stopping = new AbortController();
  const running = workers.map(({ worker }) => worker.run(stopping.signal));
  opened.defer(async () => {
    stopping.abort();
    await Promise.allSettled(running);
  });
}
