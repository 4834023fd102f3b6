import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { cachingStatements } from "../../../../api/store/db/sqlite/sqlite.ts";
import { describeOn } from "../../../support/engine.ts";

const KEPT = 250;

describeOn("sqlite", "cachingStatements", () => {
  let database: BetterSqlite3.Database;
  let prepared: string[];
  let cached: ReturnType<typeof cachingStatements>;

  beforeEach(() => {
    database = new BetterSqlite3(":memory:");
    prepared = [];
    const prepare = database.prepare.bind(database);
    database.prepare = (text: string) => {
      prepared.push(text);
      return prepare(text);
    };
    cached = cachingStatements(database);
  });
  afterEach(() => database.close());

  const select = (number: number) => `select ${number.toString()} as value`;

  it("prepares each text once", () => {
    const first = cached.prepare(select(1));
    expect(cached.prepare(select(1))).to.equal(first);
    expect(cached.prepare(select(2))).to.not.equal(first);
    expect(prepared).to.deep.equal([select(1), select(2)]);
  });

  it("gives the results of the parameters of each use", () => {
    const text = "select ? as value";
    expect(cached.prepare(text).all(["a"])).to.deep.equal([{ value: "a" }]);
    expect(cached.prepare(text).all(["b"])).to.deep.equal([{ value: "b" }]);
    expect(prepared).to.have.length(1);
  });

  it("sees changes of the schema that were made after the statement was prepared", () => {
    database.exec("create table t (a)");
    const text = "select * from t";
    expect(cached.prepare(text).all([])).to.deep.equal([]);
    database.exec("alter table t add column b default 7");
    database.exec("insert into t (a) values (1)");
    expect(cached.prepare(text).all([])).to.deep.equal([{ a: 1, b: 7 }]);
  });

  it("keeps the statements that were used last, and drops those before them when there are too many", () => {
    for (let number = 0; number <= 2 * KEPT; number++) cached.prepare(select(number));
    prepared.length = 0;
    for (let number = 2 * KEPT; number > KEPT; number--) cached.prepare(select(number));
    expect(prepared, "the last ones").to.deep.equal([]);
    cached.prepare(select(0));
    expect(prepared, "the oldest").to.deep.equal([select(0)]);
  });

  it("does not keep a text that cannot be prepared", () => {
    expect(() => cached.prepare("select from")).to.throw(/syntax error/);
    expect(() => cached.prepare("select from")).to.throw(/syntax error/);
    expect(prepared).to.have.length(2);
  });

  it("closes the connection", () => {
    cached.close();
    expect(database.open).to.equal(false);
  });
});
