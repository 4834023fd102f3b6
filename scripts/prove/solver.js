import { init } from "z3-solver";
import { FALSE, leavesOf, not, question, TRUE } from "./terms.ts";
/** Questions in one call of z3: a call takes longer than most questions. */
const TOGETHER = 40;
/** Steps from what a claim says to the conditions that are tried first. */
const NEAR = 2;
/** Variables in a simple condition. */
const SIMPLE = 8;
/** Milliseconds for one question. */
const QUESTION_TIMEOUT = 120_000;
/** Bytes of the questions in one call of z3. */
const LONGEST_TEXT = 16 * 1024 * 1024;
/**
 * @param until when to give up, in milliseconds since 1970; every later question is undecided.
 * @param answers to questions that were asked before, by their text. New answers are added.
 */
export async function startSolver(until = Infinity, answers = new Map()) {
    const started = await init();
    const { Z3 } = started;
    const z3 = started.em;
    const context = Z3.mk_context(Z3.mk_config());
    // z3-solver's own call gives z3's thread a text that the main thread may overwrite meanwhile. This memory stays.
    const text = z3._malloc(LONGEST_TEXT);
    const room = z3.HEAPU8.subarray(text, text + LONGEST_TEXT);
    let asked = 0;
    function evaluate(script) {
        const bytes = new TextEncoder().encode(`${script}\0`);
        if (bytes.length > LONGEST_TEXT)
            throw new Error(`A text for z3 has ${bytes.length} bytes, the limit is ${LONGEST_TEXT}.`);
        room.set(bytes);
        return z3.async_call(() => z3.ccall("async_Z3_eval_smtlib2_string", "void", ["number", "number"], [context, text]));
    }
    async function ask(questions) {
        const timeout = Math.floor(Math.max(1, Math.min(QUESTION_TIMEOUT, until - Date.now())));
        const script = questions.map((text) => `(reset)(set-option :timeout ${timeout})(set-logic QF_BV)\n${text}\n(check-sat)`);
        const lines = (await evaluate(script.join("\n"))).split("\n").filter((line) => line !== "");
        if (lines.length !== questions.length)
            throw new Error(`z3 answered: ${lines.join(" ").slice(0, 500)}`);
        questions.forEach((text, index) => {
            const line = lines[index];
            answers.set(text, line === "unsat" ? "proved" : line === "sat" ? "refuted" : "undecided");
        });
        asked += questions.length;
    }
    async function answer(texts) {
        const open = [...new Set(texts)].filter((text) => text !== "" && !answers.has(text));
        for (let start = 0; start < open.length && Date.now() < until; start += TOGETHER) {
            await ask(open.slice(start, start + TOGETHER));
        }
        return texts.map((text) => (text === "" ? "proved" : (answers.get(text) ?? "undecided")));
    }
    // Few conditions often suffice, and are faster. What follows from some of them follows from all.
    async function follow(claims, isQuick = false) {
        const found = claims.map(() => "undecided");
        for (const choose of isQuick ? [near] : [simple, near, (claim) => claim]) {
            const open = claims.flatMap((claim, index) => (found[index] === "proved" ? [] : [{ claim, index }]));
            const answers = await answer(open.map(({ claim }) => textOf(choose(claim))));
            open.forEach(({ index }, at) => (found[index] = answers[at] ?? "undecided"));
        }
        return found;
    }
    const stop = () => {
        z3.PThread.terminateAllThreads();
    };
    return { follow, asked: () => asked, stop };
}
/** The claim without the conditions of paths that were joined: they are large. */
function simple({ conditions, conclusion }) {
    return near({ conditions: conditions.filter((condition) => leavesOf(condition).size <= SIMPLE), conclusion });
}
/** The claim with those conditions only that have something in common with it, or with such a condition. */
function near({ conditions, conclusion }) {
    const about = new Set(leavesOf(conclusion));
    let chosen = [];
    for (let step = 0; step < NEAR; step += 1) {
        chosen = conditions.filter((condition) => [...leavesOf(condition)].some((leaf) => about.has(leaf)));
        for (const leaf of chosen.flatMap((condition) => [...leavesOf(condition)]))
            about.add(leaf);
    }
    return { conditions: chosen, conclusion };
}
/** @returns "" if nothing is left to ask. */
function textOf({ conditions, conclusion }) {
    if (conclusion === TRUE || conditions.includes(FALSE) || conditions.includes(conclusion))
        return "";
    return question([...new Set(conditions), not(conclusion)].sort((a, b) => a.id - b.id));
}
