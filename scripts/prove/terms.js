/**
 * Terms of 256-bit words and of truth values. Equal terms are one object, so `===` compares them. Building a term simplifies it
 * a little; the rest is the solver's work.
 */
export const MAX = (1n << 256n) - 1n;
const SIGN = 1n << 255n;
const known = new Map();
let nextName = 0;
function make(sort, op, args, value = -1n, name = "", factors = []) {
    const key = `${sort} ${op} ${args.map(({ id }) => id).join(",")} ${value} ${name} ${factors.join(",")}`;
    let term = known.get(key);
    if (term === undefined) {
        term = { id: known.size, sort, op, args, value, name, factors };
        known.set(key, term);
    }
    return term;
}
export function word(value) {
    return make("word", "const", [], BigInt.asUintN(256, BigInt(value)));
}
export const ZERO = word(0);
export const ONE = word(1);
const ALL_ONES = word(MAX);
const BIT_OF_WORD = word(255);
export const TRUE = make("bool", "true", []);
export const FALSE = make("bool", "false", []);
/** A word about which nothing is known. Equal names are equal words. */
export function variable(name, sort = "word") {
    return make(sort, "var", [], -1n, name);
}
/** A word about which nothing is known, different from all others. */
export function fresh(name, sort = "word") {
    nextName += 1;
    return variable(`${name}!${nextName}`, sort);
}
/** A function about which only this is known: equal arguments give equal results. */
export function apply(name, ...args) {
    return make("word", "apply", args, -1n, name);
}
export function isConst(term) {
    return term.op === "const";
}
// Sums
function addTo(parts, term, factor) {
    if (term.op === "const")
        return term.value * factor;
    if (term.op !== "sum") {
        parts.set(term, BigInt.asUintN(256, (parts.get(term) ?? 0n) + factor));
        return 0n;
    }
    term.args.forEach((arg, index) => addTo(parts, arg, factor * (term.factors[index] ?? 0n)));
    return term.value * factor;
}
function sum(terms) {
    const parts = new Map();
    let constant = 0n;
    for (const [term, factor] of terms)
        constant += addTo(parts, term, factor);
    constant = BigInt.asUintN(256, constant);
    const left = [...parts].filter(([, factor]) => factor !== 0n).sort(([a], [b]) => a.id - b.id);
    const [first] = left;
    if (first === undefined)
        return word(constant);
    if (left.length === 1 && constant === 0n && first[1] === 1n)
        return first[0];
    return make("word", "sum", left.map(([term]) => term), constant, "", left.map(([, factor]) => factor));
}
export function add(a, b) {
    return sum([
        [a, 1n],
        [b, 1n],
    ]);
}
export function sub(a, b) {
    return sum([
        [a, 1n],
        [b, -1n],
    ]);
}
// Truth values
export function not(a) {
    if (a === TRUE)
        return FALSE;
    if (a === FALSE)
        return TRUE;
    return a.op === "not" && a.args[0] !== undefined ? a.args[0] : make("bool", "not", [a]);
}
export function and(...terms) {
    const parts = new Set();
    for (const term of terms.flatMap((part) => (part.op === "and" ? part.args : [part]))) {
        if (term === FALSE || parts.has(not(term)))
            return FALSE;
        if (term !== TRUE)
            parts.add(term);
    }
    const [first, second] = parts;
    if (first === undefined)
        return TRUE;
    return second === undefined
        ? first
        : make("bool", "and", [...parts].sort((a, b) => a.id - b.id));
}
export function or(...terms) {
    return not(and(...terms.map(not)));
}
export function implies(a, b) {
    return or(not(a), b);
}
export function same(a, b) {
    if (a === b)
        return TRUE;
    if (a.sort === "bool")
        return and(implies(a, b), implies(b, a));
    if (b === ZERO)
        return isZero(a);
    if (a === ZERO)
        return isZero(b);
    const difference = sub(a, b);
    if (isConst(difference))
        return difference === ZERO ? TRUE : FALSE;
    for (const [left, right] of [
        [a, b],
        [b, a],
    ]) {
        const [truth] = left.args;
        if (left.op === "word" && truth !== undefined && isConst(right)) {
            if (right === ONE)
                return truth;
            return right === ZERO ? not(truth) : FALSE;
        }
    }
    return make("bool", "=", a.id < b.id ? [a, b] : [b, a]);
}
function isZero(a) {
    const [first, second, third] = a.args;
    if (isConst(a))
        return a === ZERO ? TRUE : FALSE;
    if (isOneBit(a))
        return FALSE;
    if (a.op === "word" && first !== undefined)
        return not(first);
    if (a.op === "bvor" && first !== undefined && second !== undefined)
        return and(isZero(first), isZero(second));
    if (a.op === "ite" && first !== undefined && second !== undefined && third !== undefined) {
        return and(implies(first, isZero(second)), implies(not(first), isZero(third)));
    }
    return make("bool", "=", ZERO.id < a.id ? [ZERO, a] : [a, ZERO]);
}
/** Whether a word is 1 shifted by a number below 256. */
function isOneBit({ op, args: [one, by] }) {
    return op === "bvshl" && one === ONE && by?.op === "bvand" && by.args[0] === BIT_OF_WORD;
}
export function below(a, b) {
    if (a === b || b === ZERO)
        return FALSE;
    if (isConst(a) && isConst(b))
        return a.value < b.value ? TRUE : FALSE;
    return b === ONE ? same(a, ZERO) : make("bool", "bvult", [a, b]);
}
export function signedBelow(a, b) {
    if (a === b)
        return FALSE;
    if (isConst(a) && isConst(b))
        return (a.value ^ SIGN) < (b.value ^ SIGN) ? TRUE : FALSE;
    return make("bool", "bvslt", [a, b]);
}
/** As the EVM has it: every word but 0 is true. */
export function isTrue(a) {
    return not(same(a, ZERO));
}
export function toWord(truth) {
    if (truth === TRUE)
        return ONE;
    return truth === FALSE ? ZERO : make("word", "word", [truth]);
}
// Words
function choose(condition, a, b) {
    if (condition === TRUE || a === b)
        return a;
    return condition === FALSE ? b : make(a.sort, "ite", [condition, a, b]);
}
export { choose as ite };
const FOLD = {
    bvand: (a, b) => a & b,
    bvor: (a, b) => a | b,
    bvxor: (a, b) => a ^ b,
};
function bitwise(op, a, b) {
    if (isConst(a) && isConst(b))
        return word(FOLD[op]?.(a.value, b.value) ?? 0n);
    if (isConst(b))
        return bitwise(op, b, a);
    if (a === b)
        return op === "bvxor" ? ZERO : a;
    if (a === ZERO)
        return op === "bvand" ? ZERO : b;
    if (a === ALL_ONES && op !== "bvxor")
        return op === "bvand" ? b : a;
    const [first, second] = b.args;
    if (isConst(a) && b.op === op && first !== undefined && second !== undefined && isConst(first)) {
        return bitwise(op, bitwise(op, a, first), second);
    }
    if (op === "bvand" && isOneBit(a))
        return pick(b, a);
    if (op === "bvand" && isOneBit(b))
        return pick(a, b);
    const [p] = a.args;
    const [q] = b.args;
    if (op !== "bvxor" && p !== undefined && q !== undefined && a.op === "word" && b.op === "word") {
        return toWord(op === "bvand" ? and(p, q) : or(p, q));
    }
    if (op === "bvand" && a === ONE && b.op === "word")
        return b;
    return make("word", op, isConst(a) || a.id < b.id ? [a, b] : [b, a]);
}
/** The given bit of a word: of each part of it, as far as it is put together here. */
function pick(bits, bit) {
    const [first, second, third] = bits.args;
    if (bits === bit)
        return bit;
    if (isOneBit(bits) && second !== undefined && bit.args[1] !== undefined) {
        return choose(same(second, bit.args[1]), bit, ZERO);
    }
    if (bits.op === "bvor" && first !== undefined && second !== undefined) {
        return bitOr(bitAnd(first, bit), bitAnd(second, bit));
    }
    if (bits.op === "ite" && first !== undefined && second !== undefined && third !== undefined) {
        return choose(first, bitAnd(second, bit), bitAnd(third, bit));
    }
    return make("word", "bvand", bits.id < bit.id ? [bits, bit] : [bit, bits]);
}
export function bitAnd(a, b) {
    return bitwise("bvand", a, b);
}
export function bitOr(a, b) {
    return bitwise("bvor", a, b);
}
export function bitXor(a, b) {
    return bitwise("bvxor", a, b);
}
export function bitNot(a) {
    return isConst(a) ? word(~a.value) : sub(word(MAX), a);
}
export function shiftLeft(a, by) {
    if (isConst(by) && by.value > 255n)
        return ZERO;
    if (isConst(a) && isConst(by))
        return word(a.value << by.value);
    return by === ZERO || a === ZERO ? a : make("word", "bvshl", [a, by]);
}
export function shiftRight(a, by) {
    if (isConst(by) && by.value > 255n)
        return ZERO;
    if (isConst(a) && isConst(by))
        return word(a.value >> by.value);
    return by === ZERO || a === ZERO ? a : make("word", "bvlshr", [a, by]);
}
export function shiftSigned(a, by) {
    return a === ZERO ? a : make("word", "bvashr", [a, by]);
}
/** Products and quotients are exact for constants and powers of two; of others only the arguments are known. */
export function product(a, b) {
    if (isConst(a) && isConst(b))
        return word(a.value * b.value);
    if (isConst(b))
        return product(b, a);
    if (!isConst(a))
        return apply("mul", a, b);
    const power = powerOf(a.value);
    return a === ZERO ? ZERO : power === undefined ? apply("mul", a, b) : shiftLeft(b, word(power));
}
export function quotient(a, b) {
    if (b === ZERO)
        return ZERO;
    if (isConst(a) && isConst(b))
        return word(a.value / b.value);
    const power = isConst(b) ? powerOf(b.value) : undefined;
    return power === undefined ? apply("div", a, b) : shiftRight(a, word(power));
}
export function remainder(a, b) {
    if (b === ZERO)
        return ZERO;
    if (isConst(a) && isConst(b))
        return word(a.value % b.value);
    const power = isConst(b) ? powerOf(b.value) : undefined;
    return power === undefined ? apply("mod", a, b) : bitAnd(a, word(b.value - 1n));
}
export function power(a, b) {
    if (!isConst(a) || !isConst(b))
        return apply("exp", a, b);
    let result = 1n;
    for (let base = a.value, left = b.value; left > 0n; left >>= 1n, base = BigInt.asUintN(256, base * base)) {
        if (left & 1n)
            result = BigInt.asUintN(256, result * base);
    }
    return word(result);
}
function powerOf(value) {
    return value > 0n && (value & (value - 1n)) === 0n ? value.toString(2).length - 1 : undefined;
}
// What a term depends on
const leaves = new Map();
/** The variables and results of functions in a term. */
export function leavesOf(term) {
    let found = leaves.get(term);
    if (found === undefined) {
        const isLeaf = term.op === "var" || term.op === "apply";
        found = isLeaf ? new Set([term]) : new Set(term.args.flatMap((arg) => [...leavesOf(arg)]));
        leaves.set(term, found);
    }
    return found;
}
// SMT-LIB
const SORT = { word: "(_ BitVec 256)", bool: "Bool" };
/**
 * Writes the question whether all terms can be true at once, in SMT-LIB. The result of a function is a word of which nothing
 * is known but the range of a remainder, not even that other arguments with the same value give the same: what holds for it
 * holds for the function too.
 */
export function question(terms) {
    const lines = [];
    // Names are numbers in the order of writing, so the same question has the same text whatever was asked before.
    const written = new Map();
    const write = (term) => {
        const known = written.get(term);
        if (known !== undefined)
            return known;
        const isUnknown = term.op === "var" || term.op === "apply";
        const args = isUnknown ? [] : term.args.map(write);
        const name = `t${written.size}`;
        written.set(term, name);
        if (isUnknown)
            lines.push(`(declare-const ${name} ${SORT[term.sort]})`, ...knownOf(term, name));
        else
            lines.push(`(define-fun ${name} () ${SORT[term.sort]} ${expression(term, args)})`);
        return name;
    };
    const asserted = terms.map((term) => `(assert ${write(term)})`);
    return [...lines, ...asserted].join("\n");
}
/** A remainder is below its divisor, if that is a constant. Only the remainder of a division by 0 is not: it is 0. */
function knownOf({ name, args: [, divisor] }, written) {
    if (name !== "mod" || divisor === undefined || !isConst(divisor) || divisor.value === 0n)
        return [];
    return [`(assert (bvult ${written} ${literal(divisor.value)}))`];
}
function expression(term, args) {
    if (term.op === "const")
        return literal(term.value);
    if (term.op === "word")
        return `(ite ${args[0]} ${literal(1n)} ${literal(0n)})`;
    if (term.op === "sum") {
        const parts = args.map((arg, index) => scaled(arg, term.factors[index] ?? 0n));
        return [...parts, literal(term.value)].reduce((a, b) => `(bvadd ${a} ${b})`);
    }
    return args.length === 0 ? term.op : `(${term.op} ${args.join(" ")})`;
}
function literal(value) {
    return `#x${value.toString(16).padStart(64, "0")}`;
}
function scaled(text, factor) {
    if (factor === 1n)
        return text;
    if (factor === MAX)
        return `(bvneg ${text})`;
    const shift = powerOf(factor);
    return shift === undefined ? `(bvmul ${text} ${literal(factor)})` : `(bvshl ${text} ${literal(BigInt(shift))})`;
}
