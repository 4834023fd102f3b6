/** Index of the word that is 1 while a thread writes. */
const TAKEN = 0;
/** Index of the number of writes that wait. */
const WAITING = 1;
/** Index of the thread that wrote last. */
const LAST = 2;
/** Index of the number of threads so far. */
const THREADS = 3;
/** Index of the word that is 1 while a thread has the checkpoint to do. */
const CHECKPOINT = 4;
const WORDS = 5;
/**
 * How long the thread that wrote last leaves a free turn to one that waits, in milliseconds. A thread that does not take it
 * by then is busy with something else, such as a large answer of the node.
 */
const LEFT_TO_OTHERS = 20;
/** Milliseconds. Any length does. */
const LONG = 60_000;

/**
 * Turns at writing, between the threads of one process. SQLite lets one connection write at a time and makes the others
 * sleep; a thread that sleeps answers nobody. Here a thread waits for its turn without sleeping. Threads that all want to
 * write take turns, but a free turn does not wait long for a thread that is busy. Other processes are not part of it:
 * SQLite's own lock keeps them apart.
 */
export class WriteTurns {
  /** Give it to another thread, which makes its own `WriteTurns` of it. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #thread: number;

  constructor(shared = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#words = new Int32Array(shared);
    this.#thread = Atomics.add(this.#words, THREADS, 1) + 1;
  }

  /** Runs `work` alone among all threads. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.#taken();
    try {
      return await work();
    } finally {
      Atomics.store(this.#words, TAKEN, 0);
      Atomics.notify(this.#words, TAKEN);
    }
  }

  /**
   * Gives a checkpoint to the thread whose commit made it due, until it has done it: not to the one that writes next, which
   * may have to answer a call. @returns false when another thread has it to do.
   */
  beginCheckpoint(): boolean {
    return Atomics.compareExchange(this.#words, CHECKPOINT, 0, 1) === 0;
  }

  endCheckpoint(): void {
    Atomics.store(this.#words, CHECKPOINT, 0);
  }

  async #taken(): Promise<void> {
    if (Atomics.load(this.#words, WAITING) === 0 && this.#tryTake()) return;
    Atomics.add(this.#words, WAITING, 1);
    // `waitAsync` alone does not keep a thread alive.
    const alive = setInterval(() => undefined, LONG);
    await this.#leaveToOthers();
    while (!this.#tryTake()) await Atomics.waitAsync(this.#words, TAKEN, 1).value;
    clearInterval(alive);
    Atomics.sub(this.#words, WAITING, 1);
  }

  /** Waits until another thread has had its turn, if this one wrote last and others wait. */
  async #leaveToOthers(): Promise<void> {
    const isNext = () => Atomics.load(this.#words, LAST) !== this.#thread || Atomics.load(this.#words, WAITING) === 1;
    const deadline = performance.now() + LEFT_TO_OTHERS;
    while (!isNext() && Atomics.load(this.#words, TAKEN) === 0) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      await Atomics.waitAsync(this.#words, TAKEN, 0, left).value;
    }
  }

  #tryTake(): boolean {
    if (Atomics.compareExchange(this.#words, TAKEN, 0, 1) !== 0) return false;
    Atomics.store(this.#words, LAST, this.#thread);
    // Wakes a thread that leaves the turn to this one.
    Atomics.notify(this.#words, TAKEN);
    return true;
  }
}
