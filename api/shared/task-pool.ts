import type { Signal } from "./signal.ts";

/** A limited number of tasks that run side by side, each for an app. */
export class TaskPool {
  readonly #limit: number;
  readonly #settled: Signal;
  readonly #running = new Map<Promise<void>, string>();

  /** @param settled notified whenever a task ends, because another may begin. */
  constructor(limit: number, settled: Signal) {
    this.#limit = limit;
    this.#settled = settled;
  }

  /** How many more tasks may begin. */
  get free(): number {
    return this.#limit - this.#running.size;
  }

  /** The app of each running task. */
  get apps(): string[] {
    return [...this.#running.values()];
  }

  /** @param failed gets what the task throws. */
  start(app: string, work: () => Promise<void>, failed: (error: unknown) => void): void {
    const task = work()
      .catch(failed)
      .finally(() => {
        this.#running.delete(task);
        this.#settled.notify();
      });
    this.#running.set(task, app);
  }

  /** Resolves when every task that runs now has ended. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running.keys());
  }
}
