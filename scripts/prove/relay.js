import { creationOf, functionsOf, runtimeOf, topicOf } from "./bytecode.ts";
import { Explorer } from "./explore.ts";
import { NotSupported, read } from "./machine.ts";
import { stringRules } from "./strings.ts";
import { add, and, apply, below, bitAnd, FALSE, fresh, implies, isConst, isTrue, ite, not, ONE, or, same, shiftLeft, shiftRight, sub, TRUE, variable, word, ZERO, } from "./terms.ts";
/** The storage layout of the relay. */
const SLOTS = { owner: 0, pausedWithPendingOwner: 1, consumed: 2, operators: 3, hostedBaseURI: 4 };
export const RELAY_THEOREMS = {
    clear: "A call runs only if the bit of its number was clear when the batch began, and no earlier call of the batch had the number",
    set: "The bit of a call's number is set when the batch ends",
    reported: "A number that an event reports as failed or cancelled is consumed",
    kept: "No write clears a bit",
    stays: "A bit that was set before a transaction is set after it",
    named: "A bit becomes set only for a number that is called, or that an event reports as failed or cancelled",
    guarded: "The guard is set whenever the relay calls a target",
    reentered: "A function that is entered while the guard is set neither writes the bitmap or the guard, nor calls anything",
    own: "No other code runs with the relay's storage",
    number: "The data of a call are at least a selector, and end with the number",
    operator: "Calls are made for an operator only, and not while the relay is paused",
    consumer: "The bitmap is written for an operator or the owner only",
    strings: "The stored hosted base is shorter than 2^64 bytes, and no write of it reaches the bitmap",
    empty: "A deployment consumes no number",
};
// Any number. It is the same in the whole proof, and nothing is known about it, so the theorems hold for each number.
const number = variable("number");
const bucket = shiftRight(number, word(8));
const bit = shiftLeft(ONE, bitAnd(number, word(255)));
const bitmapBefore = variable("bitmap_before");
const guardBefore = variable("guard_before");
const operatorBefore = variable("operator_before");
const ownerBefore = variable("owner_before");
const pausedBefore = variable("paused_before");
const caller = variable("caller");
const address = word((1n << 160n) - 1n);
function has(bits) {
    return isTrue(bitAnd(bits, bit));
}
function ghost(state, name) {
    const term = state.ghosts[name];
    if (term === undefined)
        throw new Error(`no ghost ${name}`);
    return term;
}
/** What may hold at the start of each round, if the word `bits` of the state has the bits of the bucket of any number. */
function statements(name, bits) {
    const all = [
        ["called numbers are set", (state) => implies(ghost(state, "called"), has(bits(state)))],
        ["reported numbers are set", (state) => implies(ghost(state, "named"), has(bits(state)))],
        ["set bits stay set", (state) => implies(has(bitmapBefore), has(bits(state)))],
        ["new bits are named", (state) => implies(has(bits(state)), or(has(bitmapBefore), ghost(state, "named")))],
        ["stored bits are kept", (state) => implies(has(ghost(state, "bitmap")), has(bits(state)))],
    ];
    return all.map(([what, holds]) => ({ name: `${what} in ${name}`, holds }));
}
const IN_STORAGE = statements("the bitmap", (state) => ghost(state, "bitmap"));
/** For code that keeps a word of the bitmap on the stack: the word, where its bucket is that of the number, else storage. */
function onStack(key, value) {
    return statements(`the bitmap with the word at ${value} for the bucket at ${key}`, (state) => ite(same(state.stack[key] ?? ZERO, bucket), state.stack[value] ?? ZERO, ghost(state, "bitmap")));
}
/**
 * @param theorems the texts of those to prove.
 * @param only the functions to prove them for; all if there is no list.
 */
export async function proveRelay(contract, solver, theorems = Object.values(RELAY_THEOREMS), only) {
    const runtime = new Explorer(runtimeOf(contract), IN_STORAGE, functionsOf(contract), { only });
    const ghosts = { bitmap: bitmapBefore, called: FALSE, named: FALSE, guard: guardBefore, writes: ZERO };
    const storage = new Map([
        [word(SLOTS.owner), ownerBefore],
        [word(SLOTS.pausedWithPendingOwner), pausedBefore],
        [apply("hash2", caller, word(SLOTS.operators)), operatorBefore],
    ]);
    const outcome = await runtime.run(solver, rulesOf(runtime, contract), { ghosts, storage }, theorems);
    const deployment = new Explorer(creationOf(contract), [], new Map([]));
    const rules = rulesOf(deployment, contract);
    const atDeployment = {
        ...rules,
        write: (state, slot, value) => {
            if (keyOf(slot) !== undefined)
                deployment.claim(state, RELAY_THEOREMS.empty, FALSE);
            rules.write(state, slot, value);
        },
        end: (state) => {
            deployment.claim(state, RELAY_THEOREMS.empty, not(has(ghost(state, "bitmap"))));
        },
    };
    const empty = { bitmap: ZERO, called: FALSE, named: FALSE, guard: ZERO, writes: ZERO };
    return [outcome, await deployment.run(solver, atDeployment, { ghosts: empty, storage: new Map() }, theorems)];
}
/** The bucket of a slot of the bitmap. */
function keyOf(slot) {
    return slot.op === "apply" && slot.name === "hash2" && slot.args[1] === word(SLOTS.consumed)
        ? slot.args[0]
        : undefined;
}
function rulesOf(explorer, contract) {
    const events = [topicOf(contract, "CallFailed"), topicOf(contract, "NumberCancelled")];
    const claim = (state, theorem, conclusion) => {
        explorer.claim(state, RELAY_THEOREMS[theorem], conclusion);
    };
    const strings = stringRules(explorer, [SLOTS.hostedBaseURI], (state, conclusion) => {
        claim(state, "strings", conclusion);
    });
    return {
        read: (state, slot) => {
            const key = keyOf(slot);
            if (key === undefined)
                return strings.read(state, slot);
            return ite(same(key, bucket), ghost(state, "bitmap"), fresh("bitmap_elsewhere"));
        },
        write: (state, slot, value) => {
            const key = keyOf(slot);
            if (key === undefined)
                strings.write(state, slot, value);
            else
                writeBitmap(explorer, claim, state, key, value);
        },
        ...guardRules(claim),
        call: (state, call) => {
            claimCall(claim, state, call);
        },
        log: (state, [topic, reported]) => {
            if (topic === undefined || reported === undefined)
                return;
            if (!isConst(topic))
                throw new NotSupported("an event that is not known");
            if (events.includes(topic.value))
                state.ghosts["named"] = or(ghost(state, "named"), same(reported, number));
        },
        end: (state) => {
            const after = ghost(state, "bitmap");
            claim(state, "set", implies(ghost(state, "called"), has(after)));
            claim(state, "reported", implies(ghost(state, "named"), has(after)));
            claim(state, "stays", implies(has(bitmapBefore), has(after)));
            claim(state, "named", implies(has(after), or(has(bitmapBefore), ghost(state, "named"))));
        },
    };
}
function writeBitmap(explorer, claim, state, key, value) {
    const isIt = same(key, bucket);
    const before = ghost(state, "bitmap");
    claim(state, "kept", implies(and(isIt, has(before)), has(value)));
    claim(state, "reentered", same(guardBefore, ZERO));
    claim(state, "consumer", or(isOperator, same(bitAnd(ownerBefore, address), caller)));
    state.ghosts["bitmap"] = ite(isIt, value, before);
    for (const arrival of state.arrivals) {
        const [at, valueAt] = [arrival.stack.indexOf(key), arrival.stack.indexOf(value)];
        if (at < 0 || valueAt < 0)
            continue;
        for (const candidate of onStack(at, valueAt))
            explorer.propose(arrival.key, candidate);
    }
}
/** The reentrancy guard is the only transient slot. */
function guardRules(claim) {
    let guardSlot;
    const checkSlot = (slot) => {
        if (!isConst(slot))
            throw new NotSupported("a transient slot that is not known");
        guardSlot ??= slot;
        if (slot !== guardSlot)
            throw new NotSupported("a second transient slot beside the guard");
    };
    return {
        readTransient: (state, slot) => {
            checkSlot(slot);
            return ghost(state, "guard");
        },
        writeTransient: (state, slot, value) => {
            checkSlot(slot);
            claim(state, "reentered", same(guardBefore, ZERO));
            state.ghosts["guard"] = value;
        },
    };
}
function claimCall(claim, state, { kind, inputStart, inputSize }) {
    if (kind === "STATICCALL")
        return;
    claim(state, "own", kind === "CALL" ? TRUE : FALSE);
    claim(state, "guarded", isTrue(ghost(state, "guard")));
    claim(state, "reentered", same(guardBefore, ZERO));
    claim(state, "number", and(below(word(35), inputSize), below(inputSize, word(1n << 65n))));
    claim(state, "operator", and(isOperator, not(isPaused)));
    const isIt = same(read(state, sub(add(inputStart, inputSize), word(32))), number);
    claim(state, "clear", implies(isIt, and(not(has(bitmapBefore)), not(ghost(state, "called")))));
    state.ghosts["called"] = or(ghost(state, "called"), isIt);
    state.ghosts["named"] = or(ghost(state, "named"), isIt);
}
const isOperator = isTrue(bitAnd(operatorBefore, word(255)));
const isPaused = isTrue(bitAnd(shiftRight(pausedBefore, word(160)), word(255)));
