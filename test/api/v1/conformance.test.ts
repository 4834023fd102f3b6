import { expect } from "chai";

import { conformanceOf, NotAsDocumented } from "../../support/conformance.ts";
import { useApi } from "../support/use-api.ts";

describe("the check of every answer of the API tests against the OpenAPI document", () => {
  const api = useApi();

  it("fails a call whose answer is not as documented, and finds each kind of mistake", async () => {
    const path = "/v1/accounts";
    const { headers, text, body } = await api.post(path, { user_identifier: "checked" });
    const answer = { method: "POST", path, status: 200, headers, text };
    const conformance = await conformanceOf(api.baseUrl);
    conformance.check(answer);
    for (const [change, why] of [
      [{ text: JSON.stringify({ ...body, secret: 1 }) }, /must NOT have additional properties/],
      [{ text: JSON.stringify({ address: body.address }) }, /must have required property 'user_identifier'/],
      [{ status: 201 }, /no such status/],
      [{ headers: new Headers({ "content-type": "application/json" }) }, /lacks X-Request-Id/],
      [{ path: "/v1/secrets" }, /no such call/],
    ] as const) {
      expect(() => {
        conformance.check({ ...answer, ...change });
      }).to.throw(NotAsDocumented, why);
    }
    await api.database.write((trx) => trx.updateTable("wallets").set({ address: "nowhere" }).execute());
    expect(await api.get(path).catch((error: unknown) => error)).to.be.instanceOf(NotAsDocumented);
  });
});
