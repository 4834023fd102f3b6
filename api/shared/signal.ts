/**
 * Wakes the loops of this process when there is something to do. It carries no data: what there is to do is read from
 * the database, so a lost or doubled wake-up costs nothing.
 */
export class Signal {
  #raised = false;
  readonly #waiting = new Set<() => void>();

  notify(): void {
    if (this.#waiting.size === 0) {
      this.#raised = true;
      return;
    }
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next `notify` (or at once if one came since the last wait), after `timeoutMs`, or on abort. */
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

/** The wake-ups between the parts of one process. Other processes find the same work by looking. */
export interface Signals {
  /** A request became claimable. */
  requests: Signal;
  /** A batch was broadcast, so a block may follow. */
  blocks: Signal;
  /** A delivery became due. */
  deliveries: Signal;
  /** Content is waited for. */
  media: Signal;
  /** Content became hosted. */
  hosted: Signal;
}

export function createSignals(): Signals {
  return {
    requests: new Signal(),
    blocks: new Signal(),
    deliveries: new Signal(),
    media: new Signal(),
    hosted: new Signal(),
  };
}
