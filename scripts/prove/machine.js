import { keccak256 } from "ethers";
import { add, and, apply, below, bitAnd, bitNot, bitOr, bitXor, FALSE, fresh, isConst, isTrue, not, ONE, power, product, quotient, remainder, same, shiftLeft, shiftRight, shiftSigned, signedBelow, sub, toWord, TRUE, variable, word, ZERO, } from "./terms.ts";
export class NotSupported extends Error {
}
export function read(state, address) {
    for (let write = state.memory; write !== undefined; write = write.before) {
        const distance = sub(address, write.address);
        if (!isConst(distance))
            return fresh("memory");
        if (distance === ZERO && write.value !== undefined)
            return write.value;
        const signed = BigInt.asIntN(256, distance.value);
        const isApart = signed <= -32n || (isConst(write.size) && signed >= write.size.value);
        if (!isApart)
            return fresh("memory");
    }
    return state.isMemoryKnown && isConst(address) ? ZERO : fresh("memory");
}
export function jumpDestinations(bytes) {
    const found = new Set();
    for (let pc = 0; pc < bytes.length; pc += 1) {
        const op = bytes[pc] ?? 0;
        if (op === 0x5b)
            found.add(pc);
        if (op >= 0x60 && op <= 0x7f)
            pc += op - 0x5f;
    }
    return found;
}
const WORD = word(32);
/** Words that stay the same in one execution. */
const FIXED = {
    0x30: "address",
    0x32: "origin",
    0x33: "caller",
    0x34: "callvalue",
    0x36: "calldatasize",
    0x3a: "gasprice",
    0x41: "coinbase",
    0x42: "timestamp",
    0x43: "blocknumber",
    0x44: "prevrandao",
    0x45: "gaslimit",
    0x46: "chainid",
    0x48: "basefee",
    0x4a: "blobbasefee",
};
/** Words that may be different each time, with the number of arguments. */
const UNKNOWN = {
    0x31: ["balance", 1],
    0x3b: ["extcodesize", 1],
    0x3d: ["returndatasize", 0],
    0x3f: ["extcodehash", 1],
    0x40: ["blockhash", 1],
    0x47: ["selfbalance", 0],
    0x49: ["blobhash", 1],
    0x59: ["msize", 0],
    0x5a: ["gas", 0],
};
const BINARY = {
    0x01: add,
    0x02: product,
    0x03: sub,
    0x04: quotient,
    0x05: (a, b) => apply("sdiv", a, b),
    0x06: remainder,
    0x07: (a, b) => apply("smod", a, b),
    0x0a: power,
    0x0b: (a, b) => apply("signextend", a, b),
    0x10: (a, b) => toWord(below(a, b)),
    0x11: (a, b) => toWord(below(b, a)),
    0x12: (a, b) => toWord(signedBelow(a, b)),
    0x13: (a, b) => toWord(signedBelow(b, a)),
    0x14: (a, b) => toWord(same(a, b)),
    0x16: bitAnd,
    0x17: bitOr,
    0x18: bitXor,
    0x1a: (a, b) => apply("byte", a, b),
    0x1b: (by, a) => shiftLeft(a, by),
    0x1c: (by, a) => shiftRight(a, by),
    0x1d: (by, a) => shiftSigned(a, by),
};
/** Instructions that copy bytes of which nothing is known into memory: arguments, and which of them is the size. */
const COPIES = { 0x37: [3, 2], 0x3c: [4, 3], 0x3e: [3, 2], 0x5e: [3, 2] };
/** Calls: the name, and whether it has a value. */
const CALLS = {
    0xf1: ["CALL", true],
    0xf2: ["CALLCODE", true],
    0xf4: ["DELEGATECALL", false],
    0xfa: ["STATICCALL", false],
};
/** Makes one step. @returns the states after it; a state at a jump destination has `pc` there. */
export function step(code, state, rules) {
    const op = code.bytes[state.pc] ?? 0;
    const at = state.pc;
    const instruction = INSTRUCTIONS.get(op);
    if (instruction === undefined) {
        throw new NotSupported(`the instruction 0x${op.toString(16)} at 0x${at.toString(16)} is not allowed`);
    }
    state.pc += 1;
    return instruction({ code, state, rules, op, at }) ?? [state];
}
function pop({ state, at }) {
    const term = state.stack.pop();
    if (term === undefined)
        throw new NotSupported(`the stack is empty at 0x${at.toString(16)}`);
    return term;
}
function popMany(context, count) {
    return Array.from({ length: count }, () => pop(context));
}
function store({ state }, address, size, more = {}) {
    if (size !== ZERO)
        state.memory = { address, size, ...more, before: state.memory };
}
// Each group of instructions takes its operation code from the context.
const pushConstant = ({ code, state, op }) => {
    const bytes = code.bytes.subarray(state.pc, state.pc + op - 0x5f);
    state.stack.push(code.immutables.get(state.pc) ?? word(BigInt(`0x0${Buffer.from(bytes).toString("hex")}`)));
    state.pc += op - 0x5f;
    return undefined;
};
const duplicate = ({ state: { stack }, op }) => {
    const term = stack.at(0x7f - op);
    if (term === undefined)
        throw new NotSupported("the stack is too short");
    stack.push(term);
    return undefined;
};
const swap = ({ state: { stack }, op }) => {
    const other = stack.length - 1 - (op - 0x8f);
    const [a, b] = [stack[other], stack.at(-1)];
    if (a === undefined || b === undefined)
        throw new NotSupported("the stack is too short");
    stack[other] = b;
    stack[stack.length - 1] = a;
    return undefined;
};
const log = (context) => {
    popMany(context, 2);
    context.rules.log(context.state, popMany(context, context.op - 0xa0));
    return undefined;
};
/** An instruction that puts one word on the stack, made of those that it takes. */
function pushing(count, make) {
    return (context) => {
        context.state.stack.push(make(popMany(context, count), context));
        return undefined;
    };
}
function copying([count, size]) {
    return (context) => {
        const args = popMany(context, count);
        store(context, args[count - 3] ?? ZERO, args[size] ?? ZERO);
        return undefined;
    };
}
function calling([kind, hasValue]) {
    return (context) => {
        const { state, rules } = context;
        pop(context);
        const target = pop(context);
        const value = hasValue ? pop(context) : ZERO;
        const [inputStart, inputSize, outputStart, outputSize] = [pop(context), pop(context), pop(context), pop(context)];
        rules.call(state, { kind, target, value, inputStart, inputSize });
        if (kind !== "STATICCALL")
            state.storage = new Map();
        store(context, outputStart, outputSize);
        state.stack.push(toWord(fresh("success", "bool")));
        return undefined;
    };
}
/** Words of the machine itself. */
const WORDS = {
    0x08: pushing(3, (args) => apply("addmod", ...args)),
    0x09: pushing(3, (args) => apply("mulmod", ...args)),
    0x15: pushing(1, ([a = ZERO]) => toWord(same(a, ZERO))),
    0x19: pushing(1, ([a = ZERO]) => bitNot(a)),
    0x20: pushing(2, ([start = ZERO, size = ZERO], { state }) => hash(state, start, size)),
    0x35: pushing(1, ([at = ZERO]) => apply("calldata", at)),
    0x38: pushing(0, (_, { code }) => (code.isCreation ? variable("codesize") : word(code.bytes.length))),
    0x58: pushing(0, (_, { at }) => word(at)),
};
const MEMORY = {
    0x39: (context) => {
        const [address, codeFrom, size] = [pop(context), pop(context), pop(context)];
        store(context, address, size, { codeFrom });
        return undefined;
    },
    0x51: pushing(1, ([address = ZERO], { state }) => read(state, address)),
    0x52: (context) => {
        const address = pop(context);
        store(context, address, WORD, { value: pop(context) });
        return undefined;
    },
    0x53: (context) => {
        store(context, pop(context), ONE);
        pop(context);
        return undefined;
    },
};
const STORAGE = {
    0x54: pushing(1, ([slot = ZERO], { state, rules }) => {
        const value = rules.read(state, slot) ?? state.storage.get(slot) ?? fresh("storage");
        state.storage.set(slot, value);
        return value;
    }),
    0x55: (context) => {
        const slot = pop(context);
        context.rules.write(context.state, slot, pop(context));
        context.state.storage = new Map();
        return undefined;
    },
    0x5c: pushing(1, ([slot = ZERO], { state, rules }) => rules.readTransient(state, slot)),
    0x5d: (context) => {
        const slot = pop(context);
        context.rules.writeTransient(context.state, slot, pop(context));
        return undefined;
    },
};
const revert = () => [];
/** What decides where an execution goes on. */
const FLOW = {
    0x00: ({ state, rules }) => {
        rules.end(state, { start: ZERO, size: ZERO });
        return [];
    },
    0x50: (context) => {
        pop(context);
        return undefined;
    },
    0x56: (context) => jump(context.state, pop(context)),
    0x57: (context) => {
        const target = pop(context);
        const condition = isTrue(pop(context));
        return [
            ...assume(context.state, condition, context.at, (taken) => jump(taken, target)),
            ...assume(context.state, not(condition), context.at, (going) => [going]),
        ];
    },
    0x5b: () => undefined,
    0xf3: (context) => {
        const start = pop(context);
        context.rules.end(context.state, { start, size: pop(context) });
        return [];
    },
    0xfd: revert,
    0xfe: revert,
};
function table(entries, make) {
    return Object.entries(entries).map(([op, entry]) => [Number(op), make(entry)]);
}
function range(first, last, instruction) {
    return Array.from({ length: last - first + 1 }, (_, index) => [first + index, instruction]);
}
/** All instructions that the machine has. Code that reaches another one is refused. */
const INSTRUCTIONS = new Map([
    ...range(0x5f, 0x7f, pushConstant),
    ...range(0x80, 0x8f, duplicate),
    ...range(0x90, 0x9f, swap),
    ...range(0xa0, 0xa4, log),
    ...table(BINARY, (make) => pushing(2, ([a = ZERO, b = ZERO]) => make(a, b))),
    ...table(FIXED, (name) => pushing(0, () => variable(name))),
    ...table(UNKNOWN, ([name, count]) => pushing(count, () => fresh(name))),
    ...table(COPIES, copying),
    ...table(CALLS, calling),
    ...[WORDS, MEMORY, STORAGE, FLOW].flatMap((entries) => table(entries, (instruction) => instruction)),
]);
function jump(state, target) {
    if (!isConst(target))
        throw new NotSupported(`a jump to an unknown place before 0x${state.pc.toString(16)}`);
    state.pc = Number(target.value);
    return [state];
}
function assume(state, condition, at, go) {
    if (condition === FALSE || state.conditions.includes(not(condition)))
        return [];
    const isOpen = condition !== TRUE && !state.conditions.includes(condition);
    const next = copyOf(state);
    if (isOpen) {
        next.conditions.push(...(condition.op === "and" ? condition.args : [condition]));
        if (and(...next.conditions) === FALSE)
            return [];
    }
    const states = go(next);
    if (isOpen)
        for (const { path } of states)
            path.push(at.toString(16));
    return states;
}
export function copyOf(state) {
    return {
        ...state,
        stack: [...state.stack],
        storage: new Map(state.storage),
        ghosts: { ...state.ghosts },
        conditions: [...state.conditions],
        passed: new Map(state.passed),
        arrivals: [...state.arrivals],
        path: [...state.path],
    };
}
/** Hashes of one and of two words are functions of them. Of other hashes nothing is known. */
function hash(state, start, size) {
    if (size !== WORD && size !== word(64))
        return fresh("hash");
    const words = size === WORD ? [read(state, start)] : [read(state, start), read(state, add(start, WORD))];
    if (!words.every(isConst))
        return apply(`hash${words.length}`, ...words);
    return word(BigInt(keccak256(`0x${words.map(({ value }) => value.toString(16).padStart(64, "0")).join("")}`)));
}
