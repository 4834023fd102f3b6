import { expect } from "chai";
import fc from "fast-check";

import { BoundedMap, remember } from "../../../api/shared/bounded-map.ts";

describe("BoundedMap", () => {
  const filled = (map: BoundedMap<string, number>, ...keys: string[]) => {
    for (const key of keys) map.set(key, key.length);
    return map;
  };

  it("has the newest value of a key until it is deleted", () => {
    const map = filled(new BoundedMap(2), "a", "b", "c");
    map.set("a", 7);
    expect(map.get("a")).to.equal(7);
    map.delete("a");
    expect(map.get("a")).to.equal(undefined);
    expect(map.get("b")).to.equal(1);
    map.clear();
    expect(["a", "b", "c"].map((key) => map.get(key))).to.deep.equal([undefined, undefined, undefined]);
  });

  it("keeps an entry that is used again, and drops those that are not", () => {
    const map = filled(new BoundedMap(2), "a", "b", "c");
    expect(map.get("a")).to.equal(1);
    filled(map, "d", "e");
    expect(map.get("b")).to.equal(undefined);
    expect(map.get("a")).to.equal(1);
  });

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

  it("counts the size of each value", () => {
    const map = filled(new BoundedMap<string, number>(4, (value) => value), "a", "bbb", "cc", "dd");
    expect(map.get("bbb"), "with the other two it has less than twice the size").to.equal(3);
    expect(map.get("a"), "more than the size was used since").to.equal(undefined);
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
