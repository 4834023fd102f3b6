import { createHash } from "node:crypto";

import { expect } from "chai";

import { databaseFor } from "../../../api/commands/credential.ts";
import { useApi } from "../support/use-api.ts";

describe("the database for the handler of a call", () => {
  const api = useApi({ per: "block" });

  it("writes nothing, alone or in a group, once the caller's token is revoked", async () => {
    const hash = createHash("sha256").update(api.app.token).digest("hex");
    const database = databaseFor(api.database, { kind: "token", hash });
    const answer = () => Promise.resolve("written");
    expect([await database.write(answer), await database.writeGroup(answer)]).to.deep.equal(["written", "written"]);
    await api.database.write((trx) => trx.updateTable("api_tokens").set({ revoked_at: Date.now() }).execute());
    for (const write of ["write", "writeGroup"] as const) {
      expect(await database[write](answer).catch((error: unknown) => error)).to.include({ errorCode: "unauthorized" });
    }
  });
});
