import { MOST_NODES } from "../domain/conditions.ts";

/** Whole numbers that all threads read at once, without the lock. */
const FLAGS = 16;
/** Numbers that are read and written under the lock. */
const NUMBERS = 28;
/** Longest text, in bytes. */
const TEXT = 512;
const LOCK = 0;
const TEXT_LENGTH = 1;
/** The first flag that a user of the memory may have. */
export const FREE_FLAG = 2;

const BYTES = FLAGS * Int32Array.BYTES_PER_ELEMENT + NUMBERS * Float64Array.BYTES_PER_ELEMENT + TEXT;
/** Milliseconds after which a thread looks again whether the lock is free. Nobody holds it for that long. */
const LOCK_WAIT = 1;

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
    while (Atomics.compareExchange(this.flags, LOCK, 0, 1) !== 0) Atomics.wait(this.flags, LOCK, 1, LOCK_WAIT);
    try {
      return work();
    } finally {
      Atomics.store(this.flags, LOCK, 0);
      Atomics.notify(this.flags, LOCK, 1);
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
