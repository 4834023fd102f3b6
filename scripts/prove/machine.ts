import { keccak256 } from "ethers";

import {
  add,
  and,
  apply,
  below,
  bitAnd,
  bitNot,
  bitOr,
  bitXor,
  FALSE,
  fresh,
  isConst,
  isTrue,
  not,
  power,
  product,
  quotient,
  remainder,
  same,
  shiftLeft,
  shiftRight,
  shiftSigned,
  signedBelow,
  sub,
  type Term,
  toWord,
  TRUE,
  variable,
  word,
  ZERO,
} from "./terms.ts";

/** Code as it runs. Immutable values are unknown words. */
export interface Code {
  bytes: Uint8Array;
  /** Where a PUSH32 has an immutable value instead of the bytes that stand there. */
  immutables: ReadonlyMap<number, Term>;
  /** Whether it is the code of a deployment, with arguments behind it. */
  isCreation: boolean;
}

/** What a piece of memory was set to, newest first. No value: nothing is known about the bytes. */
export interface Memory {
  address: Term;
  size: Term;
  value?: Term;
  /** Of a copy of code: the position of the first byte. */
  codeFrom?: Term;
  before: Memory | undefined;
}

/** A place of the code where paths are cut, in one context. */
export interface Arrival {
  key: string;
  stack: readonly Term[];
  ghosts: Readonly<Record<string, Term>>;
}

/** A set of executions: all that reach `pc` with values that satisfy the conditions. */
export interface State {
  pc: number;
  stack: Term[];
  memory: Memory | undefined;
  /** Whether memory that was never written is zero. After a cut nothing is known about it. */
  isMemoryKnown: boolean;
  /** Storage that was read or written since anything else could change it. */
  storage: Map<Term, Term>;
  /** Words that the rules keep beside the machine's own state. */
  ghosts: Record<string, Term>;
  conditions: Term[];
  /** Jump destinations that were passed, with their stacks. */
  passed: Map<string, Term[][]>;
  /** The cuts that the path has passed. */
  arrivals: Arrival[];
  /** The path for the reader. */
  path: string[];
}

export interface Call {
  kind: string;
  target: Term;
  value: Term;
  inputStart: Term;
  inputSize: Term;
}

/** What a proof adds to the machine. Each gets the state before the step, and may claim what must hold there. */
export interface Rules {
  read: (state: State, slot: Term) => Term | undefined;
  write: (state: State, slot: Term, value: Term) => void;
  readTransient: (state: State, slot: Term) => Term;
  writeTransient: (state: State, slot: Term, value: Term) => void;
  /** A call, or a contract's creation. The machine forgets the storage afterwards, and the rules what they must. */
  call: (state: State, call: Call) => void;
  log: (state: State, topics: readonly Term[]) => void;
  /** The end of an execution that is not reverted. */
  end: (state: State, result: { start: Term; size: Term }) => void;
}

export class NotSupported extends Error {}

export function read(state: Pick<State, "memory" | "isMemoryKnown">, address: Term): Term {
  for (let write = state.memory; write !== undefined; write = write.before) {
    const distance = sub(address, write.address);
    if (!isConst(distance)) return fresh("memory");
    if (distance === ZERO && write.value !== undefined) return write.value;
    const signed = BigInt.asIntN(256, distance.value);
    const isApart = signed <= -32n || (isConst(write.size) && signed >= write.size.value);
    if (!isApart) return fresh("memory");
  }
  return state.isMemoryKnown && isConst(address) ? ZERO : fresh("memory");
}

export function jumpDestinations(bytes: Uint8Array): Set<number> {
  const found = new Set<number>();
  for (let pc = 0; pc < bytes.length; pc += 1) {
    const op = bytes[pc] ?? 0;
    if (op === 0x5b) found.add(pc);
    if (op >= 0x60 && op <= 0x7f) pc += op - 0x5f;
  }
  return found;
}

const WORD = word(32);

/** Words that stay the same in one execution. */
const FIXED: Record<number, string> = {
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
const UNKNOWN: Record<number, [string, number]> = {
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
const BINARY: Record<number, (a: Term, b: Term) => Term> = {
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
const COPIES: Record<number, [number, number]> = { 0x37: [3, 2], 0x3c: [4, 3], 0x3e: [3, 2], 0x5e: [3, 2] };
/** Calls: the name, and whether it has a value. */
const CALLS: Record<number, [string, boolean]> = {
  0xf1: ["CALL", true],
  0xf2: ["CALLCODE", true],
  0xf4: ["DELEGATECALL", false],
  0xfa: ["STATICCALL", false],
};

/** Makes one step. @returns the states after it; a state at a jump destination has `pc` there. */
export function step(code: Code, state: State, rules: Rules): State[] {
  const op = code.bytes[state.pc] ?? 0;
  const at = state.pc;
  const { stack } = state;
  const pop = () => {
    const term = stack.pop();
    if (term === undefined) throw new NotSupported(`the stack is empty at 0x${at.toString(16)}`);
    return term;
  };
  const store = (address: Term, size: Term, more: { value?: Term; codeFrom?: Term } = {}) => {
    if (size !== ZERO) state.memory = { address, size, ...more, before: state.memory };
  };
  state.pc += 1;

  if (op >= 0x5f && op <= 0x7f) {
    const bytes = code.bytes.subarray(state.pc, state.pc + op - 0x5f);
    stack.push(code.immutables.get(state.pc) ?? word(BigInt(`0x0${Buffer.from(bytes).toString("hex")}`)));
    state.pc += op - 0x5f;
    return [state];
  }
  if (op >= 0x80 && op <= 0x8f) {
    const term = stack.at(0x7f - op);
    if (term === undefined) throw new NotSupported("the stack is too short");
    stack.push(term);
    return [state];
  }
  if (op >= 0x90 && op <= 0x9f) {
    const other = stack.length - 1 - (op - 0x8f);
    const [a, b] = [stack[other], stack.at(-1)];
    if (a === undefined || b === undefined) throw new NotSupported("the stack is too short");
    stack[other] = b;
    stack[stack.length - 1] = a;
    return [state];
  }
  if (op >= 0xa0 && op <= 0xa4) {
    pop();
    pop();
    rules.log(
      state,
      Array.from({ length: op - 0xa0 }, () => pop()),
    );
    return [state];
  }
  const binary = BINARY[op];
  if (binary !== undefined) {
    const a = pop();
    stack.push(binary(a, pop()));
    return [state];
  }
  const fixed = FIXED[op];
  if (fixed !== undefined) {
    stack.push(variable(fixed));
    return [state];
  }
  const unknown = UNKNOWN[op];
  if (unknown !== undefined) {
    for (let count = 0; count < unknown[1]; count += 1) pop();
    stack.push(fresh(unknown[0]));
    return [state];
  }
  const copy = COPIES[op];
  if (copy !== undefined) {
    const args = Array.from({ length: copy[0] }, () => pop());
    store(args[copy[0] - 3] ?? ZERO, args[copy[1]] ?? ZERO);
    return [state];
  }
  const call = CALLS[op];
  if (call !== undefined) {
    pop();
    const target = pop();
    const value = call[1] ? pop() : ZERO;
    const [inputStart, inputSize, outputStart, outputSize] = [pop(), pop(), pop(), pop()];
    rules.call(state, { kind: call[0], target, value, inputStart, inputSize });
    if (call[0] !== "STATICCALL") state.storage = new Map();
    store(outputStart, outputSize);
    stack.push(toWord(fresh("success", "bool")));
    return [state];
  }

  switch (op) {
    case 0x00:
      rules.end(state, { start: ZERO, size: ZERO });
      return [];
    case 0x08:
    case 0x09:
      stack.push(apply(op === 0x08 ? "addmod" : "mulmod", pop(), pop(), pop()));
      return [state];
    case 0x15:
      stack.push(toWord(not(isTrue(pop()))));
      return [state];
    case 0x19:
      stack.push(bitNot(pop()));
      return [state];
    case 0x20:
      stack.push(hash(state, pop(), pop()));
      return [state];
    case 0x35:
      stack.push(apply("calldata", pop()));
      return [state];
    case 0x38:
      stack.push(code.isCreation ? variable("codesize") : word(code.bytes.length));
      return [state];
    case 0x39: {
      const [address, codeFrom, size] = [pop(), pop(), pop()];
      store(address, size, { codeFrom });
      return [state];
    }
    case 0x50:
      pop();
      return [state];
    case 0x51:
      stack.push(read(state, pop()));
      return [state];
    case 0x52: {
      const address = pop();
      store(address, WORD, { value: pop() });
      return [state];
    }
    case 0x53:
      store(pop(), word(1));
      pop();
      return [state];
    case 0x54: {
      const slot = pop();
      const value = rules.read(state, slot) ?? state.storage.get(slot) ?? fresh("storage");
      state.storage.set(slot, value);
      stack.push(value);
      return [state];
    }
    case 0x55: {
      const slot = pop();
      const value = pop();
      rules.write(state, slot, value);
      state.storage = new Map();
      return [state];
    }
    case 0x56:
      return jump(state, pop());
    case 0x57: {
      const target = pop();
      const condition = isTrue(pop());
      return [
        ...assume(state, condition, at, (taken) => jump(taken, target)),
        ...assume(state, not(condition), at, (going) => [going]),
      ];
    }
    case 0x58:
      stack.push(word(at));
      return [state];
    case 0x5b:
      return [state];
    case 0x5c:
      stack.push(rules.readTransient(state, pop()));
      return [state];
    case 0x5d: {
      const slot = pop();
      rules.writeTransient(state, slot, pop());
      return [state];
    }
    case 0xf3: {
      const start = pop();
      rules.end(state, { start, size: pop() });
      return [];
    }
    case 0xfd:
    case 0xfe:
      return [];
    default:
      throw new NotSupported(`the instruction 0x${op.toString(16)} at 0x${at.toString(16)} is not allowed`);
  }
}

function jump(state: State, target: Term): State[] {
  if (!isConst(target)) throw new NotSupported(`a jump to an unknown place before 0x${state.pc.toString(16)}`);
  state.pc = Number(target.value);
  return [state];
}

function assume(state: State, condition: Term, at: number, go: (state: State) => State[]): State[] {
  if (condition === FALSE || state.conditions.includes(not(condition))) return [];
  const isOpen = condition !== TRUE && !state.conditions.includes(condition);
  const next = copyOf(state);
  if (isOpen) {
    next.conditions.push(...(condition.op === "and" ? condition.args : [condition]));
    if (and(...next.conditions) === FALSE) return [];
  }
  const states = go(next);
  if (isOpen) for (const { path } of states) path.push(at.toString(16));
  return states;
}

export function copyOf(state: State): State {
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
function hash(state: State, start: Term, size: Term): Term {
  if (size !== WORD && size !== word(64)) return fresh("hash");
  const words = size === WORD ? [read(state, start)] : [read(state, start), read(state, add(start, WORD))];
  if (!words.every(isConst)) return apply(`hash${words.length}`, ...words);
  return word(BigInt(keccak256(`0x${words.map(({ value }) => value.toString(16).padStart(64, "0")).join("")}`)));
}
