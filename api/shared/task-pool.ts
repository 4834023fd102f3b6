import { FairShares, type ShareLimits } from "./fair-shares.ts";
import type { Signal } from "./signal.ts";

/** Whether the server that a task asked answered in time. */
export type TaskSpeed = "slow" | "in-time";

/** A limited number of tasks that run side by side, each for an app. */
export class TaskPool {
  readonly #limits: ShareLimits;
  readonly #ended: Signal;
  readonly #running = new Map<Promise<void>, string>();
  readonly #slow = new Set<string>();

  /** @param ended notified whenever a task ends, because another may begin. */
  constructor(limits: ShareLimits, ended: Signal) {
    this.#limits = limits;
    this.#ended = ended;
  }

  /** How many tasks run now. */
  get running(): number {
    return this.#running.size;
  }

  /** The places for the next tasks, beside the running ones. */
  shares(): FairShares {
    return new FairShares(this.#limits, [...this.#running.values()], this.#slow);
  }

  /**
   * Starts a task. After a slow one, its app gets one place at a time until a task is in time.
   * @param failed gets what the task throws. It must not throw.
   */
  start(app: string, work: () => Promise<TaskSpeed>, failed: (error: unknown) => void | Promise<void>): void {
    const task = work()
      .then((speed) => {
        if (speed === "slow") this.#slow.add(app);
        else this.#slow.delete(app);
      })
      .catch(failed)
      .finally(() => {
        this.#running.delete(task);
        this.#ended.notify();
      });
    this.#running.set(task, app);
  }

  /** Resolves when every task that runs now has ended. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running.keys());
  }
}
