import { expect } from "chai";
import { sql } from "kysely";

import { compiledQuery, compiledSetQuery } from "../../../../api/store/db/compiled-query.ts";
import { addApp } from "../../support/rows.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

interface Wanted {
  [name: string]: string | null;
  id: string;
  name: string | null;
}

describe("a compiled query", () => {
  const database = useTestDatabase({ per: "block" });
  before(async () => {
    for (const id of ["one", "two"]) await addApp(database, id);
  });

  async function expectError(find: ReturnType<typeof compiledQuery<Wanted, unknown>>, message: RegExp): Promise<void> {
    const error = await rejectionOf(find(database.read, { id: "one", name: null }));
    expect(error).to.be.instanceOf(TypeError).with.property("message").that.matches(message);
  }

  it("is built once for each set of values that are null, and runs with the values of each call", async () => {
    let built = 0;
    const find = compiledQuery((db, wanted: Wanted) => {
      built++;
      const query = db.selectFrom("apps").select("id").where("id", "=", wanted.id);
      return wanted.name === null ? query : query.where("name", "=", wanted.name);
    });
    const ids = async (id: string, name: string | null) =>
      (await find(database.read, { id, name })).map((row) => row.id);
    expect(await ids("one", null)).to.deep.equal(["one"]);
    expect(await ids("two", null)).to.deep.equal(["two"]);
    expect(built).to.equal(1);
    expect(await ids("two", "two")).to.deep.equal(["two"]);
    expect(await ids("two", "one")).to.deep.equal([]);
    expect(await ids("two", null)).to.deep.equal(["two"]);
    expect(built).to.equal(2);
  });

  it("refuses a constant parameter: it would be that of the first call", async () => {
    const find = compiledQuery((db, wanted: Wanted) =>
      db.selectFrom("apps").select("id").where("id", "=", wanted.id).where("name", "=", "one"),
    );
    await expectError(find, /has a constant parameter/);
    const literal = compiledQuery((db, wanted: Wanted) =>
      db.selectFrom("apps").select("id").where("id", "=", wanted.id).where("name", "=", sql.lit("one")),
    );
    expect(await literal(database.read, { id: "one", name: null })).to.deep.equal([{ id: "one" }]);
  });

  it("of a set is built once for few rows and once for many", async () => {
    let built = 0;
    const find = compiledSetQuery({ id: "text" }, (input) => {
      built++;
      return sql<{ id: string; ord: number }>`
        select apps.id, input.ord from ${input} as input join apps on apps.id = input.id order by input.ord`;
    });
    const ids = async (...wanted: string[]) =>
      (
        await find(
          database.read,
          wanted.map((id) => ({ id })),
        )
      ).map(({ id, ord }) => `${ord.toString()}: ${id}`);
    const strangers = Array.from({ length: 40 }, (_, index) => `stranger ${index.toString()}`);
    expect(await ids("one")).to.deep.equal(["0: one"]);
    expect(await ids()).to.deep.equal([]);
    expect(await ids("nobody", "two", "one")).to.deep.equal(["1: two", "2: one"]);
    expect(built).to.equal(1);
    expect(await ids(...strangers, "two")).to.deep.equal(["40: two"]);
    expect(await ids("one", ...strangers)).to.deep.equal(["0: one"]);
    expect(built).to.equal(2);
  });

  it("refuses to build a query that depends on a value", async () => {
    const find = compiledQuery((db, wanted: Wanted) =>
      db.selectFrom("apps").select("id").where("id", "=", `${wanted.id}!`),
    );
    await expectError(find, /the value of id is not known/);
  });
});
