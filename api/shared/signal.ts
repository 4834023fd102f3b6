/**
 * Wakes the workers of this process when there is work. It carries no data: workers read their work from the database,
 * so a lost or repeated wake-up does no harm.
 */
export class Signal {
  #raised = false;
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<() => void>();

  notify(): void {
    for (const listener of this.#listeners) listener();
    if (this.#waiting.size === 0) {
      this.#raised = true;
      return;
    }
    for (const wake of [...this.#waiting]) wake();
  }

  /** Calls a listener each time, beside the worker that waits. */
  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves at the next `notify`, after `timeoutMs`, or on abort. Resolves at once if `notify` was called since the last wait. */
  wait(timeoutMs: number, abort?: AbortSignal): Promise<void> {
    if (this.#raised) {
      this.#raised = false;
      return Promise.resolve();
    }
    if (abort?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        abort?.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      abort?.addEventListener("abort", done, { once: true });
      this.#waiting.add(done);
    });
  }
}

/** The signals between the parts of one process. Other processes find the same work when they poll. */
export interface Signals {
  /** A request can be claimed. */
  requests: Signal;
  /** A batch was broadcast, so a block may follow soon. */
  blocks: Signal;
  /** Events were stored, or a webhook delivery is due. */
  deliveries: Signal;
  /** A request waits for content. */
  media: Signal;
  /** The content of a request was copied, or cannot be. */
  results: Signal;
  /** New content is hosted. */
  hosted: Signal;
  /** A foreign contract must be read. */
  contracts: Signal;
}

export function createSignals(): Signals {
  return {
    requests: new Signal(),
    blocks: new Signal(),
    deliveries: new Signal(),
    media: new Signal(),
    results: new Signal(),
    hosted: new Signal(),
    contracts: new Signal(),
  };
}
