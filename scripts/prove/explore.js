import { copyOf, jumpDestinations, NotSupported, step } from "./machine.ts";
import { and, apply, fresh, isConst, or, same, shiftRight, TRUE, word, ZERO } from "./terms.ts";
const SELECTOR = shiftRight(apply("calldata", ZERO), word(224));
const NO_FUNCTION = "no function";
/** Steps of all paths together. Code that needs more is refused. */
const MAX_STEPS = 3_000_000;
/**
 * Follows all paths of a code. Where a path comes back to a place of the code, it is cut: from there on, all that a round of
 * the loop changes is unknown, apart from statements that hold when the loop begins and that each round keeps (induction over
 * the rounds). Which places, positions and statements these are is found by trying.
 */
export class Explorer {
    #code;
    #destinations;
    #cuts = new Map();
    #claims = [];
    /** Counts what was learnt about the loops. */
    #changes = 0;
    #paths = 0;
    #arrivals = 0;
    /** Statements to try at each loop. */
    #everywhere;
    /** Names of functions by selector. */
    #functions;
    #options;
    constructor(code, everywhere, functions, options = {}) {
        this.#code = code;
        this.#functions = functions;
        this.#options = options;
        this.#destinations = jumpDestinations(code.bytes);
        this.#everywhere = everywhere;
    }
    /** States what must hold in a state, under the conditions of its path. */
    claim(state, theorem, conclusion) {
        const path = this.#pathOf(state);
        if (conclusion !== TRUE || !this.#claims.some((claim) => claim.theorem === theorem && claim.path === path)) {
            this.#claims.push({ theorem, path, conditions: [...state.conditions], conclusion });
        }
    }
    /** Proposes a statement for a loop whose rounds the state is in. */
    propose(key, candidate) {
        const cut = this.#cuts.get(key);
        if (cut === undefined || cut.candidates.has(candidate.name) || cut.dropped.has(candidate.name))
            return;
        cut.candidates.set(candidate.name, candidate);
        this.#changes += 1;
    }
    /** Follows all paths until the loops' statements are settled, and proves what was claimed of the given theorems. */
    async run(solver, rules, start, theorems) {
        for (;;) {
            this.follow(rules, start);
            const tried = this.#claims.filter(({ candidate }) => candidate !== undefined);
            const answers = await solver.follow(tried, true);
            const failed = tried.filter((_, index) => answers[index] !== "proved");
            if (failed.length === 0)
                break;
            for (const { candidate } of failed) {
                if (candidate === undefined)
                    continue;
                candidate.cut.candidates.delete(candidate.name);
                candidate.cut.dropped.add(candidate.name);
            }
        }
        return await this.#judge(solver, theorems);
    }
    async #judge(solver, theorems) {
        const claims = this.#claims.filter(({ candidate, theorem }) => candidate === undefined && theorems.includes(theorem));
        const answers = await solver.follow(claims);
        const proved = new Map();
        const failures = [];
        claims.forEach(({ theorem, path }, index) => {
            if (answers[index] === "proved")
                proved.set(theorem, (proved.get(theorem) ?? 0) + 1);
            else
                failures.push({ theorem, path, isUndecided: answers[index] === "undecided" });
        });
        return { proved, failures, paths: this.#paths, loops: this.#cuts.size };
    }
    /** Follows all paths, again and again until it is known which places are loops, and what their rounds change. */
    follow(rules, start) {
        let changes;
        do {
            changes = this.#changes;
            this.#claims = [];
            this.#paths = 0;
            this.#followOnce(rules, start);
        } while (this.#changes !== changes);
    }
    #followOnce(rules, { ghosts, storage }) {
        const work = [
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
        const waiting = new Waiting();
        const cuts = this.#cuts.size;
        // With a new cut all begins again: paths that passed the place without it would find more cuts than there are loops.
        for (let steps = 0; this.#cuts.size === cuts; steps += 1) {
            if (steps > MAX_STEPS)
                throw new NotSupported("too many paths");
            const running = work.pop();
            const state = running ?? waiting.take();
            if (state === undefined)
                return;
            try {
                const isPlace = this.#code.bytes[state.pc] === 0x5b;
                if (isPlace && running !== undefined && this.#isRoundEnd(state))
                    this.#paths += 1;
                else if (isPlace && running !== undefined && !this.#isWanted(state))
                    this.#paths += 1;
                else if (isPlace && running !== undefined && this.#options.joins === true) {
                    waiting.add(this.#placeOf(state), state);
                }
                else {
                    const after = step(this.#code, isPlace ? this.#begin(state) : state, rules);
                    if (after.length === 0)
                        this.#paths += 1;
                    work.push(...after);
                }
            }
            catch (error) {
                if (!(error instanceof NotSupported))
                    throw error;
                throw new NotSupported(`${error.message} (${this.#pathOf(state)})`);
            }
        }
    }
    /** Whether a path ends here because it has come round a loop. */
    #isRoundEnd(state) {
        const key = keyOf(state);
        const last = state.arrivals.findLast((arrival) => arrival.key === key && this.#isRepeated(arrival.stack, state.stack));
        const cut = this.#cuts.get(key);
        if (last !== undefined && cut !== undefined) {
            for (const [name, before, after] of changes(last, state)) {
                if (cut.varying.has(name) || before === after)
                    continue;
                cut.varying.add(name);
                this.#changes += 1;
            }
            this.#try(cut, state, "a round keeps");
            return true;
        }
        if (cut !== undefined || !state.passed.get(key)?.some((stack) => this.#isRepeated(stack, state.stack)))
            return false;
        this.#cuts.set(key, {
            varying: new Set(),
            candidates: new Map(this.#everywhere.map((candidate) => [candidate.name, candidate])),
            dropped: new Set(),
        });
        this.#changes += 1;
        return true;
    }
    /** @returns the state to go on with at a jump destination. */
    #begin(state) {
        const key = keyOf(state);
        const cut = this.#cuts.get(key);
        if (cut !== undefined)
            return this.#enter(key, cut, state);
        state.passed.set(key, [...(state.passed.get(key) ?? []), [...state.stack]]);
        return state;
    }
    /** States of one place can be joined: they are in the same function, return to the same places, and are in the same loops. */
    #placeOf(state) {
        const returns = state.stack.map((term) => (this.#isReturn(term) ? term.value : ""));
        const loops = state.arrivals.map(({ id }) => id);
        return [keyOf(state), this.#functionOf(state), ...loops, ...returns].join(" ");
    }
    #enter(key, cut, state) {
        this.#try(cut, state, "the first round has");
        const next = copyOf(state);
        next.stack = state.stack.map((term, index) => (cut.varying.has(`${index}`) ? fresh("loop", term.sort) : term));
        for (const [name, term] of Object.entries(state.ghosts)) {
            if (cut.varying.has(name))
                next.ghosts[name] = fresh(name, term.sort);
        }
        next.memory = undefined;
        next.isMemoryKnown = false;
        next.storage = new Map();
        this.#arrivals += 1;
        next.arrivals.push({ id: this.#arrivals, key, stack: [...next.stack], ghosts: { ...next.ghosts } });
        next.path.push(`the loop at ${state.pc.toString(16)}`);
        for (const { holds } of cut.candidates.values()) {
            const condition = holds(next);
            if (condition !== TRUE)
                next.conditions.push(condition);
        }
        return next;
    }
    #try(cut, state, what) {
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
    #pathOf(state) {
        return [this.#functionOf(state), ...state.path].join(" ");
    }
    #functionOf({ conditions }) {
        for (const { op, args } of conditions) {
            if (op !== "=" || !args.includes(SELECTOR))
                continue;
            const name = this.#functions.get(args.find(isConst)?.value ?? -1n);
            if (name !== undefined)
                return name;
        }
        return NO_FUNCTION;
    }
    #isWanted(state) {
        const { only } = this.#options;
        if (only === undefined)
            return true;
        const name = this.#functionOf(state);
        return name === NO_FUNCTION || only.includes(name);
    }
    /** Whether two stacks at one place belong to one loop: they return to the same places. */
    #isRepeated(a, b) {
        return a.every((term, index) => {
            const other = b[index];
            return other === undefined || term === other || !this.#isReturn(term) || !this.#isReturn(other);
        });
    }
    #isReturn(term) {
        return isConst(term) && this.#destinations.has(Number(term.value));
    }
}
/** A place of the code where paths can be cut. */
function keyOf({ pc, stack }) {
    return `${pc.toString(16)}/${stack.length}`;
}
/** States that wait at jump destinations for others that reach the same place. */
class Waiting {
    #places = new Map();
    add(place, state) {
        const others = this.#places.get(place);
        if (others === undefined)
            this.#places.set(place, [state]);
        else
            others.push(state);
    }
    /** @returns the states of one place, joined. It should be one that no other waiting state can reach. Code runs forward, and
     * has more on the stack inside of functions and branches; where that is not so, paths are only joined less often. */
    take() {
        let best;
        for (const entry of this.#places)
            if (best === undefined || isBefore(entry[1][0], best[1][0]))
                best = entry;
        if (best === undefined)
            return undefined;
        this.#places.delete(best[0]);
        return joined(best[1]);
    }
}
function isBefore(a, b) {
    if (a === undefined || b === undefined)
        return false;
    return a.stack.length === b.stack.length ? a.pc < b.pc : a.stack.length > b.stack.length;
}
/** One state for all executions of the given ones. Where their words differ, it has a new one that is equal to one of them. */
function joined(states) {
    const [first, ...others] = states;
    if (first === undefined || others.length === 0)
        return first;
    const next = copyOf(first);
    const isCommon = (condition) => others.every(({ conditions }) => conditions.includes(condition));
    next.conditions = first.conditions.filter(isCommon);
    const own = states.map(({ conditions }) => conditions.filter((condition) => !next.conditions.includes(condition)));
    const join = (name, terms) => {
        const [term] = terms;
        if (term === undefined)
            throw new Error("States of one place differ in what they have.");
        if (terms.every((other) => other === term))
            return term;
        const either = fresh(name, term.sort);
        // How many writes there were is of no use, and would make most questions larger.
        if (name !== "writes")
            terms.forEach((other, index) => own[index]?.push(same(either, other ?? term)));
        return either;
    };
    next.stack = first.stack.map((_, index) => join("joined", states.map(({ stack }) => stack[index])));
    for (const name of Object.keys(first.ghosts))
        next.ghosts[name] = join(name, states.map(({ ghosts }) => ghosts[name]));
    const either = or(...own.map((conditions) => and(...conditions)));
    if (either !== TRUE)
        next.conditions.push(either);
    if (others.some(({ memory }) => memory !== first.memory)) {
        next.memory = undefined;
        next.isMemoryKnown = false;
    }
    next.storage = new Map([...first.storage].filter(([slot, value]) => others.every((s) => s.storage.get(slot) === value)));
    next.passed = new Map([...first.passed].filter(([key]) => others.every(({ passed }) => passed.has(key))));
    const branch = first.path.findIndex((part, index) => others.some(({ path }) => path[index] !== part));
    if (branch >= 0)
        next.path = first.path.slice(0, branch);
    return next;
}
function changes(before, after) {
    return [
        ...after.stack.map((term, index) => [`${index}`, before.stack[index], term]),
        ...Object.entries(after.ghosts).map(([name, term]) => [name, before.ghosts[name], term]),
    ];
}
