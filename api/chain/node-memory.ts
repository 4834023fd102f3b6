import { MOST_NODES } from "../domain/conditions.ts";

/** Whole numbers that all threads read at once, without the lock. */
const FLAGS = 16;
/** Numbers that are read and written under the lock. */
const NUMBERS = 28;
/** Longest text, in bytes. */
const TEXT = 512;
const LOCK = 0;
const TEXT_LENGTH = 1;
/** How often the lock was wanted: each use of the lock has its own number, so that a thread frees only its own. */
const TICKETS = 2;
/** The first flag that a user of the memory may have. */
export const FREE_FLAG = 3;

const BYTES = FLAGS * Int32Array.BYTES_PER_ELEMENT + NUMBERS * Float64Array.BYTES_PER_ELEMENT + TEXT;
/** Milliseconds after which a thread looks again whether the lock is free. Nobody holds it for that long. */
const LOCK_WAIT = 1;
/** Milliseconds after which a thread that has the lock must have ended, so that the next one takes it. */
const LOCK_LOST = 1_000;

/** Milliseconds of the monotonic clock. The same in all threads, unlike `performance.now()`. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Memory for what the threads of a process know about all nodes. Give it to the other threads. */
export function createNodesMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(MOST_NODES * BYTES);
}

/**
 * What the threads of a process know about one node. It is memory that they share, and not messages: each call of the node reads
 * it, a thread that is busy delays no other, and there is no thread that must run for the others.
 */
export class NodeMemory {
  /** Read and written with `Atomics`. */
  readonly flags: Int32Array;
  /** Only inside of `locked`. */
  readonly numbers: Float64Array;
  readonly #text: Uint8Array;

  /** @param number of the node, from 1. @param shared of all nodes; absent: this thread shares it with no other. */
  constructor(number = 1, shared: SharedArrayBuffer = createNodesMemory()) {
    const start = (number - 1) * BYTES;
    const numbers = start + FLAGS * Int32Array.BYTES_PER_ELEMENT;
    this.flags = new Int32Array(shared, start, FLAGS);
    this.numbers = new Float64Array(shared, numbers, NUMBERS);
    this.#text = new Uint8Array(shared, numbers + NUMBERS * Float64Array.BYTES_PER_ELEMENT, TEXT);
  }

  /** Runs a few steps alone among all threads. They must not wait for anything. */
  locked<T>(work: () => T): T {
    const ticket = this.#lock();
    try {
      return work();
    } finally {
      Atomics.compareExchange(this.flags, LOCK, ticket, 0);
      Atomics.notify(this.flags, LOCK, 1);
    }
  }

  #lock(): number {
    const ticket = Atomics.add(this.flags, TICKETS, 1) || -1;
    let [holder, since] = [0, 0];
    for (;;) {
      const found = Atomics.compareExchange(this.flags, LOCK, 0, ticket);
      if (found === 0) return ticket;
      if (found !== holder) [holder, since] = [found, monotonic()];
      else if (monotonic() - since >= LOCK_LOST && Atomics.compareExchange(this.flags, LOCK, found, ticket) === found)
        return ticket;
      Atomics.wait(this.flags, LOCK, found, LOCK_WAIT);
    }
  }

  /** Only inside of `locked`. Empty: there is none. */
  get text(): string {
    // A decoder does not take shared memory.
    return new TextDecoder().decode(this.#text.slice(0, Atomics.load(this.flags, TEXT_LENGTH)));
  }

  /** The beginning, when it is longer than the memory. */
  set text(value: string) {
    const bytes = new Uint8Array(TEXT);
    const { written } = new TextEncoder().encodeInto(value, bytes);
    this.#text.set(bytes);
    Atomics.store(this.flags, TEXT_LENGTH, written);
  }
}
