import { expect } from "chai";

import {
  add,
  bitAnd,
  bitNot,
  bitOr,
  bitXor,
  MAX,
  ONE,
  question,
  shiftLeft,
  shiftRight,
  sub,
  type Term,
  variable,
  word,
} from "../../../scripts/prove/terms.ts";

const a = variable("a");
const b = variable("b");

/** Value of a term made of the operations below. */
function valueOf({ op, args, value, name, factors }: Term, values: Record<string, bigint>): bigint {
  const [x = 0n, y = 0n] = args.map((arg) => valueOf(arg, values));
  const results: Record<string, () => bigint> = {
    const: () => value,
    var: () => values[name] ?? 0n,
    sum: () => args.reduce((sum, arg, index) => sum + valueOf(arg, values) * (factors[index] ?? 0n), value),
    bvand: () => x & y,
    bvor: () => x | y,
    bvxor: () => x ^ y,
    bvshl: () => (y > 255n ? 0n : x << y),
    bvlshr: () => (y > 255n ? 0n : x >> y),
  };
  const result = results[op];
  if (result === undefined) throw new Error(`no value for ${op}`);
  return BigInt.asUintN(256, result());
}

const BINARY: [(x: Term, y: Term) => Term, (x: bigint, y: bigint) => bigint][] = [
  [add, (x, y) => x + y],
  [sub, (x, y) => x - y],
  [bitAnd, (x, y) => x & y],
  [bitOr, (x, y) => x | y],
  [bitXor, (x, y) => x ^ y],
  [shiftLeft, (x, y) => (y > 255n ? 0n : x << y)],
  [shiftRight, (x, y) => (y > 255n ? 0n : x >> y)],
];

describe("terms of the prover", () => {
  it("keep their value when they are simplified, also those with constants that look like a mask", () => {
    const values = { a: 0xf0f0n, b: 7n };
    const basis = [a, b, word(0), ONE, word(255), word(MAX), bitNot(a), bitNot(b), add(a, word(255)), sub(b, ONE)];
    const level = basis.flatMap((x) => basis.flatMap((y) => BINARY.map(([make]) => make(x, y))));
    for (const x of level) {
      for (const y of basis) {
        for (const [make, compute] of BINARY) {
          const expected = BigInt.asUintN(256, compute(valueOf(x, values), valueOf(y, values)));
          expect(valueOf(make(x, y), values)).to.equal(expected);
        }
      }
    }
  });

  it("write the same question with the same text, whatever was asked before", () => {
    const ask = (name: string) => question([bitAnd(variable(name), word(12345)), add(variable(name), ONE)]);
    expect(ask("one")).to.equal(ask("another"));
  });
});
