import { expect } from "chai";
import fc from "fast-check";

import { BoundedMap, remember } from "../../../api/shared/bounded-map.ts";

describe("BoundedMap", () => {
  const filled = (map: BoundedMap<string, number>, ...keys: string[]) => {
    for (const key of keys) map.set(key, key.length);
    return map;
  };

  it("keeps at least the keys that were used last, and none that as many as twice its size followed", () => {
    const property = fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(14)), (size, keys) => {
      const map = new BoundedMap<number, number>(size);
      let used: number[] = [];
      for (const key of keys) {
        const found = map.get(key);
        const since = used.indexOf(key);
        if (since !== -1 && since < size) expect(found).to.equal(key);
        if (since === -1 || since >= 2 * size) expect(found).to.equal(undefined);
        if (found === undefined) map.set(key, key);
        used = [key, ...used.filter((other) => other !== key)];
      }
    });
    fc.assert(property);
  });

  it("keeps a value that is larger than its size until the next one", () => {
    const map = filled(new BoundedMap<string, number>(2, (value) => value), "aaaa");
    expect(map.get("aaaa")).to.equal(4);
    filled(map, "b", "cc");
    expect(map.get("aaaa")).to.equal(undefined);
  });
});

describe("remember", () => {
  it("computes a result once while it is in use, and again after it was dropped", () => {
    const computed: string[] = [];
    const double = remember(1, (text: string) => {
      computed.push(text);
      return text + text;
    });
    expect(["a", "b", "a", "c", "a"].map(double)).to.deep.equal(["aa", "bb", "aa", "cc", "aa"]);
    expect(computed).to.deep.equal(["a", "b", "c"]);
    expect(double("b")).to.equal("bb");
    expect(computed).to.deep.equal(["a", "b", "c", "b"]);
  });

  it("throws the error of the function each time", () => {
    let calls = 0;
    const fail = remember(2, (): string => {
      calls++;
      throw new Error("wrong");
    });
    expect(() => fail("a")).to.throw("wrong");
    expect(() => fail("a")).to.throw("wrong");
    expect(calls).to.equal(2);
  });
});
