import { type Code, copyOf, jumpDestinations, NotSupported, type Rules, type State, step } from "./machine.ts";
import type { Claim, Solver } from "./solver.ts";
import { apply, fresh, isConst, shiftRight, type Term, TRUE, word, ZERO } from "./terms.ts";

/** What a state has where paths are cut. */
export type Snapshot = Pick<State, "stack" | "ghosts">;

/** A statement that may hold whenever a loop begins a round. It is used only when it was proved. */
export interface Candidate {
  name: string;
  holds: (state: Snapshot) => Term;
}

interface Cut {
  /** Positions of the stack, and ghosts, that rounds of the loop change. */
  varying: Set<string>;
  candidates: Map<string, Candidate>;
  dropped: Set<string>;
}

interface Open extends Claim {
  theorem: string;
  path: string;
  candidate?: { cut: Cut; name: string };
}

/** A theorem that was not proved, as a sentence. */
export interface Failure {
  theorem: string;
  path: string;
  isUndecided: boolean;
}

export interface Outcome {
  /** Claims that were proved, by theorem. */
  proved: Map<string, number>;
  failures: Failure[];
  paths: number;
  loops: number;
}

/** Where an execution begins. */
export interface Start {
  ghosts: Readonly<Record<string, Term>>;
  storage: ReadonlyMap<Term, Term>;
}

const SELECTOR = shiftRight(apply("calldata", ZERO), word(224));

/** Steps of all paths together. Code that needs more is refused. */
const MAX_STEPS = 3_000_000;

/**
 * Follows all paths of a code. Where a path comes back to a place of the code, it is cut: from there on, all that a round of
 * the loop changes is unknown, apart from statements that hold when the loop begins and that each round keeps (induction over
 * the rounds). Which places, positions and statements these are is found by trying.
 */
export class Explorer {
  readonly #code: Code;
  readonly #destinations: Set<number>;
  readonly #cuts = new Map<string, Cut>();
  #claims: Open[] = [];
  /** Counts what was learnt about the loops. */
  #changes = 0;
  #paths = 0;
  /** Statements to try at each loop. */
  readonly #everywhere: readonly Candidate[];

  /** Names of functions by selector. */
  readonly #functions: ReadonlyMap<bigint, string>;

  constructor(code: Code, everywhere: readonly Candidate[], functions: ReadonlyMap<bigint, string>) {
    this.#code = code;
    this.#functions = functions;
    this.#destinations = jumpDestinations(code.bytes);
    this.#everywhere = everywhere;
  }

  /** States what must hold in a state, under the conditions of its path. */
  claim(state: State, theorem: string, conclusion: Term): void {
    const path = this.#pathOf(state);
    if (conclusion !== TRUE || !this.#claims.some((claim) => claim.theorem === theorem && claim.path === path)) {
      this.#claims.push({ theorem, path, conditions: [...state.conditions], conclusion });
    }
  }

  /** Proposes a statement for a loop whose rounds the state is in. */
  propose(key: string, candidate: Candidate): void {
    const cut = this.#cuts.get(key);
    if (cut === undefined || cut.candidates.has(candidate.name) || cut.dropped.has(candidate.name)) return;
    cut.candidates.set(candidate.name, candidate);
    this.#changes += 1;
  }

  /** Follows all paths until the loops' statements are settled, and proves what was claimed of the given theorems. */
  async run(solver: Solver, rules: Rules, start: Start, theorems: readonly string[]): Promise<Outcome> {
    for (;;) {
      this.follow(rules, start);
      const tried = this.#claims.filter(({ candidate }) => candidate !== undefined);
      const answers = await solver.follow(tried, true);
      const failed = tried.filter((_, index) => answers[index] !== "proved");
      if (failed.length === 0) break;
      for (const { candidate } of failed) {
        if (candidate === undefined) continue;
        candidate.cut.candidates.delete(candidate.name);
        candidate.cut.dropped.add(candidate.name);
      }
    }
    return await this.#judge(solver, theorems);
  }

  async #judge(solver: Solver, theorems: readonly string[]): Promise<Outcome> {
    const claims = this.#claims.filter(
      ({ candidate, theorem }) => candidate === undefined && theorems.includes(theorem),
    );
    const answers = await solver.follow(claims);
    const proved = new Map<string, number>();
    const failures: Failure[] = [];
    claims.forEach(({ theorem, path }, index) => {
      if (answers[index] === "proved") proved.set(theorem, (proved.get(theorem) ?? 0) + 1);
      else failures.push({ theorem, path, isUndecided: answers[index] === "undecided" });
    });
    return { proved, failures, paths: this.#paths, loops: this.#cuts.size };
  }

  /** Follows all paths, again and again until it is known which places are loops, and what their rounds change. */
  follow(rules: Rules, start: Start): void {
    let changes: number;
    do {
      changes = this.#changes;
      this.#claims = [];
      this.#paths = 0;
      this.#followOnce(rules, start);
    } while (this.#changes !== changes);
  }

  #followOnce(rules: Rules, { ghosts, storage }: Start): void {
    const work: State[] = [
      {
        pc: 0,
        stack: [],
        memory: undefined,
        isMemoryKnown: true,
        storage: new Map(storage),
        ghosts: { ...ghosts },
        conditions: [],
        passed: new Map(),
        arrivals: [],
        path: [],
      },
    ];
    const cuts = this.#cuts.size;
    // With a new cut all begins again: paths that passed the place without it would find more cuts than there are loops.
    for (
      let steps = 0, state = work.pop();
      state !== undefined && this.#cuts.size === cuts;
      state = work.pop(), steps += 1
    ) {
      if (steps > MAX_STEPS) throw new NotSupported("too many paths");
      try {
        const { pc } = state;
        const next = this.#code.bytes[pc] === 0x5b ? this.#arrive(state) : state;
        if (next === undefined) this.#paths += 1;
        else {
          const after = step(this.#code, next, rules);
          if (after.length === 0) this.#paths += 1;
          work.push(...after);
        }
      } catch (error) {
        if (!(error instanceof NotSupported)) throw error;
        throw new NotSupported(`${error.message} (${this.#pathOf(state)})`);
      }
    }
  }

  /** @returns the state to go on with; nothing if the path ends at a cut. */
  #arrive(state: State): State | undefined {
    const key = `${state.pc.toString(16)}/${state.stack.length}`;
    const last = state.arrivals.findLast(
      (arrival) => arrival.key === key && this.#isRepeated(arrival.stack, state.stack),
    );
    const cut = this.#cuts.get(key);
    if (last !== undefined && cut !== undefined) {
      for (const [name, before, after] of changes(last, state)) {
        if (cut.varying.has(name) || before === after) continue;
        cut.varying.add(name);
        this.#changes += 1;
      }
      this.#try(cut, state, "a round keeps");
      return undefined;
    }
    if (cut !== undefined) return this.#enter(key, cut, state);
    const earlier = state.passed.get(key) ?? [];
    if (earlier.some((stack) => this.#isRepeated(stack, state.stack))) {
      this.#cuts.set(key, {
        varying: new Set(),
        candidates: new Map(this.#everywhere.map((candidate) => [candidate.name, candidate])),
        dropped: new Set(),
      });
      this.#changes += 1;
      return undefined;
    }
    state.passed.set(key, [...earlier, [...state.stack]]);
    return state;
  }

  #enter(key: string, cut: Cut, state: State): State {
    this.#try(cut, state, "the first round has");
    const next = copyOf(state);
    next.stack = state.stack.map((term, index) => (cut.varying.has(`${index}`) ? fresh("loop", term.sort) : term));
    for (const [name, term] of Object.entries(state.ghosts)) {
      if (cut.varying.has(name)) next.ghosts[name] = fresh(name, term.sort);
    }
    next.memory = undefined;
    next.isMemoryKnown = false;
    next.storage = new Map();
    next.arrivals.push({ key, stack: [...next.stack], ghosts: { ...next.ghosts } });
    next.path.push(`the loop at ${state.pc.toString(16)}`);
    for (const { holds } of cut.candidates.values()) {
      const condition = holds(next);
      if (condition !== TRUE) next.conditions.push(condition);
    }
    return next;
  }

  #try(cut: Cut, state: State, what: string): void {
    for (const { name, holds } of cut.candidates.values()) {
      const conditions = [...state.conditions];
      const path = this.#pathOf(state);
      this.#claims.push({
        theorem: `${what}: ${name}`,
        path,
        conditions,
        conclusion: holds(state),
        candidate: { cut, name },
      });
    }
  }

  /** The path for a reader: the function, the loops, and the places of the branches in hexadecimal. */
  #pathOf({ conditions, path }: State): string {
    const selectors = conditions
      .filter(({ op, args }) => op === "=" && args.includes(SELECTOR))
      .map(({ args }) => args.find(isConst)?.value ?? -1n);
    const name = selectors.map((selector) => this.#functions.get(selector)).find((found) => found !== undefined);
    return [name ?? "no function", ...path].join(" ");
  }

  /** Whether two stacks at one place belong to one loop: they return to the same places. */
  #isRepeated(a: readonly Term[], b: readonly Term[]): boolean {
    return a.every((term, index) => {
      const other = b[index];
      return other === undefined || term === other || !this.#isReturn(term) || !this.#isReturn(other);
    });
  }

  #isReturn(term: Term): boolean {
    return isConst(term) && this.#destinations.has(Number(term.value));
  }
}

function changes(
  before: Snapshot | { stack: readonly Term[]; ghosts: Readonly<Record<string, Term>> },
  after: Snapshot,
) {
  return [
    ...after.stack.map((term, index) => [`${index}`, before.stack[index], term] as const),
    ...Object.entries(after.ghosts).map(([name, term]) => [name, before.ghosts[name], term] as const),
  ];
}
