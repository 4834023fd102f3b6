import { expect } from "chai";
import { sql } from "kysely";

import { compiledQuery } from "../../../../api/store/db/compiled-query.ts";
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

  it("refuses to build a query that depends on a value", async () => {
    const find = compiledQuery((db, wanted: Wanted) =>
      db.selectFrom("apps").select("id").where("id", "=", `${wanted.id}!`),
    );
    await expectError(find, /the value of id is not known/);
  });
});
