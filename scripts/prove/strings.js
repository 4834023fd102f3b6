import { keccak256, toBeHex } from "ethers";
import { add, below, bitAnd, fresh, implies, isConst, ONE, or, same, shiftRight, sub, TRUE, word, ZERO, } from "./terms.ts";
/** Longer strings, and fixed slots behind it, do not exist. */
const LIMIT = 1n << 64n;
/** No transaction has the gas for so many writes. */
const MOST_WRITES = word(1n << 63n);
/** Counts the writes. */
function writesOf({ ghosts }) {
    return ghosts["writes"] ?? ZERO;
}
/** @param heads the numbers of the strings' slots. */
export function stringRules(explorer, heads, claim) {
    const slots = heads.map((head) => word(head));
    const starts = heads.map((head) => word(BigInt(keccak256(toBeHex(head, 32)))));
    // If the code names the string whose word it is, the other strings would only make the question harder.
    const isNear = (slot, limit) => {
        const distances = starts.map((start) => sub(slot, start));
        const named = distances.find(({ value }) => value < LIMIT);
        return named === undefined ? or(...distances.map((distance) => below(distance, limit))) : below(named, limit);
    };
    /** A position of the stack that goes through the words of a string goes on by one word with each write. */
    const nearStart = (at) => ({
        name: `the slot at ${at} of the stack is in a string`,
        holds: (state) => {
            const writes = writesOf(state);
            return implies(below(writes, MOST_WRITES), isNear(state.stack[at] ?? ZERO, add(word(1n << 61n), writes)));
        },
    });
    return {
        read: (state, slot) => {
            if (!slots.includes(slot))
                return undefined;
            const value = state.storage.get(slot) ?? fresh("string");
            state.conditions.push(isShort(value));
            return value;
        },
        write: (state, slot, value) => {
            const before = writesOf(state);
            const writes = add(before, ONE);
            state.conditions.push(below(before, MOST_WRITES), below(writes, MOST_WRITES));
            claim(state, isFixed(slot) || isElement(slot) ? TRUE : isNear(slot, word(LIMIT)));
            if (slots.includes(slot))
                claim(state, isShort(value));
            for (const arrival of state.arrivals) {
                const at = arrival.stack.indexOf(slot);
                if (at >= 0)
                    explorer.propose(arrival.key, nearStart(at));
            }
            state.ghosts["writes"] = writes;
        },
    };
}
function isFixed(slot) {
    return isConst(slot) && slot.value < LIMIT;
}
/** An element of a mapping, or of a mapping in a mapping. */
function isElement({ op, name, args: [, mapping] }) {
    return op === "apply" && name === "hash2" && mapping !== undefined && (isConst(mapping) || isElement(mapping));
}
/** Of the first word of a stored string: the length is odd for a long one, twice the length plus 1. */
function isShort(value) {
    return implies(same(bitAnd(value, ONE), ONE), below(shiftRight(value, ONE), word(LIMIT)));
}
