/** Index of the next free ticket. */
const NEXT = 0;
/** Index of the ticket whose holder may write. */
const SERVED = 1;
/** Index of the word that is 1 while a thread has the checkpoint to do. */
const CHECKPOINT = 2;
const WORDS = 3;
/** Milliseconds between the ticks of a timer that only keeps the thread alive. Any length works. */
const LONG = 60_000;

/**
 * Turns at writing, between the threads of one process. SQLite lets one connection write at a time and makes the others
 * sleep; a thread that sleeps answers nobody. Here a thread waits for its turn without sleeping, first come, first
 * served. Other processes are not part of it: SQLite's own lock keeps them apart.
 */
export class WriteTurns {
  /** Give it to another thread, which makes its own `WriteTurns` of it. */
  readonly shared: SharedArrayBuffer;
  readonly #tickets: Int32Array;

  constructor(shared = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#tickets = new Int32Array(shared);
  }

  /** Runs `work` alone among all threads. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.#served(Atomics.add(this.#tickets, NEXT, 1));
    try {
      return await work();
    } finally {
      Atomics.add(this.#tickets, SERVED, 1);
      Atomics.notify(this.#tickets, SERVED);
    }
  }

  /**
   * Gives a checkpoint to the thread whose commit made it due, until it has done it: not to the one that writes next, which
   * may have to answer a call. @returns false when another thread has it to do.
   */
  beginCheckpoint(): boolean {
    return Atomics.compareExchange(this.#tickets, CHECKPOINT, 0, 1) === 0;
  }

  endCheckpoint(): void {
    Atomics.store(this.#tickets, CHECKPOINT, 0);
  }

  async #served(ticket: number): Promise<void> {
    if (Atomics.load(this.#tickets, SERVED) === ticket) return;
    // `waitAsync` alone does not keep a thread alive.
    const alive = setInterval(() => undefined, LONG);
    for (;;) {
      const served = Atomics.load(this.#tickets, SERVED);
      if (served === ticket) break;
      await Atomics.waitAsync(this.#tickets, SERVED, served).value;
    }
    clearInterval(alive);
  }
}
