import { backoff } from "../domain/backoff.ts";
import { NODE_WORDS, type NodeWord } from "../domain/conditions.ts";
import { AFTER_BUDGET } from "./node-budget.ts";
import { monotonic, type NodeMemory } from "./node-memory.ts";

/** Rest of a node that failed, before it is asked again. */
const REST = { first: 1_000, longest: 30_000 };

/** Numbers of the memory. All times are those of `monotonic`; 0: never. */
const WORD = AFTER_BUDGET;
const HEAD = AFTER_BUDGET + 1;
const HEAD_AT = AFTER_BUDGET + 2;
const LATENCY = AFTER_BUDGET + 3;
const FAILED = AFTER_BUDGET + 4;
/** Failures without a success between them. */
const FAILURES = AFTER_BUDGET + 5;
const FAILED_AT = AFTER_BUDGET + 6;
const REST_UNTIL = AFTER_BUDGET + 7;
const OUTVOTED_HEIGHT = AFTER_BUDGET + 8;
const OUTVOTED_AT = AFTER_BUDGET + 9;
const DISPUTED_HEIGHT = AFTER_BUDGET + 10;
const DISPUTED_AT = AFTER_BUDGET + 11;

/** How a node is, as its answers in all threads of the process show. */
interface Health {
  word: NodeWord;
  /** The lowest block about which the others outvoted it, and when it last contradicted them; null: it may be read. */
  outvoted: { height: number; at: number } | null;
  /** The block about which it and others last differed without a majority, and when. */
  disputed: { height: number; at: number } | null;
  head: number | null;
  headAt: number | null;
  /** Milliseconds. */
  latency: number | null;
  failed: number;
  failedAt: number;
  restUntil: number;
}

/** How one of several nodes is. What one thread finds out, all threads know. */
export class NodeHealth {
  readonly #memory: NodeMemory;

  constructor(memory: NodeMemory) {
    this.#memory = memory;
  }

  /** `problem` says what is wrong with the node; it is empty when nothing is. */
  read(): Health & { problem: string } {
    return this.#memory.locked(() => ({ ...this.#numbers(), problem: this.#memory.text }));
  }

  get use(): Health {
    return this.#memory.locked(() => this.#numbers());
  }

  outvote(height: number): void {
    this.#memory.locked(() => {
      const { numbers } = this.#memory;
      const known = this.#numbers().outvoted?.height ?? height;
      [numbers[OUTVOTED_HEIGHT], numbers[OUTVOTED_AT]] = [Math.min(height, known), monotonic()];
    });
  }

  dispute(height: number): void {
    this.#memory.locked(() => {
      const { numbers } = this.#memory;
      [numbers[DISPUTED_HEIGHT], numbers[DISPUTED_AT]] = [height, monotonic()];
    });
  }

  /** @returns whether it was outvoted. */
  reinstate(): boolean {
    return this.#memory.locked(() => {
      const { outvoted } = this.#numbers();
      this.#memory.numbers[OUTVOTED_AT] = 0;
      return outvoted !== null;
    });
  }

  took(latency: number): void {
    this.#memory.locked(() => (this.#memory.numbers[LATENCY] = latency));
  }

  named(head: number): void {
    this.#memory.locked(() => {
      const { numbers } = this.#memory;
      [numbers[HEAD], numbers[HEAD_AT]] = [head, monotonic()];
    });
  }

  /**
   * @param isNewest whether the answer shows that the node is not behind the database.
   * @returns whether the node is used again from now on.
   */
  answered(startedAt: number, isNewest: boolean): boolean {
    return this.#memory.locked(() => {
      const { numbers } = this.#memory;
      const { word, failedAt, restUntil } = this.#numbers();
      // An answer to a call from before the last failure does not show that the node works again.
      if (startedAt < failedAt) return false;
      // A node whose answer was wrong answers all the time, and one that is behind has old blocks.
      if (word === "disagrees" && monotonic() < restUntil) return false;
      if (word === "behind" && !isNewest) return false;
      numbers[WORD] = numbers[FAILURES] = 0;
      if (word !== "up") this.#memory.text = "";
      return word !== "up";
    });
  }

  /**
   * Nothing is read from the node for a while.
   * @param rest milliseconds; null: the rest grows with each failure in a row.
   * @returns the earlier state. Null: the call ran beside one that has already failed, so nothing is new.
   */
  failed(
    { word, rest, problem }: { word: NodeWord; rest: number | null; problem: string },
    startedAt: number,
  ): NodeWord | null {
    return this.#memory.locked(() => {
      const { numbers } = this.#memory;
      const before = this.#numbers();
      numbers[FAILED] = before.failed + 1;
      if (before.word !== "up" && startedAt < before.failedAt) return null;
      const failures = numbers[FAILURES] ?? 0;
      const now = monotonic();
      numbers[FAILURES] = failures + 1;
      numbers[FAILED_AT] = now;
      const until = now + (rest ?? backoff(REST, failures));
      numbers[REST_UNTIL] = Math.max(before.restUntil, until);
      numbers[WORD] = NODE_WORDS.indexOf(word);
      this.#memory.text = problem;
      return before.word;
    });
  }

  #numbers(): Health {
    const { numbers } = this.#memory;
    const headAt = numbers[HEAD_AT] ?? 0;
    const latency = numbers[LATENCY] ?? 0;
    const about = (height: number, at: number) =>
      numbers[at] === 0 ? null : { height: numbers[height] ?? 0, at: numbers[at] ?? 0 };
    return {
      outvoted: about(OUTVOTED_HEIGHT, OUTVOTED_AT),
      disputed: about(DISPUTED_HEIGHT, DISPUTED_AT),
      word: NODE_WORDS[numbers[WORD] ?? 0] ?? "up",
      head: headAt === 0 ? null : (numbers[HEAD] ?? 0),
      headAt: headAt === 0 ? null : headAt,
      latency: latency === 0 ? null : latency,
      failed: numbers[FAILED] ?? 0,
      failedAt: numbers[FAILED_AT] ?? 0,
      restUntil: numbers[REST_UNTIL] ?? 0,
    };
  }
}
