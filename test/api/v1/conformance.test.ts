import { expect } from "chai";

import { type Conformance, conformanceOf, type Exchange, NotAsDocumented } from "../../support/conformance.ts";
import { startApi } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";

/* Every API test checks its answers with this checker. These tests show that it finds each kind of mistake. */

describe("the check of answers against the OpenAPI document", () => {
  const api = useApi({ per: "block" });
  let conformance: Conformance;
  let accepted: Exchange;
  let refused: Exchange;
  before(async () => {
    conformance = await conformanceOf(api.baseUrl);
    const path = "/v1/accounts";
    const answer = await api.post(path, { user_identifier: "checked" });
    accepted = { method: "POST", path, status: 200, headers: answer.headers, text: answer.text };
    const refusal = await api.post(path, { user_identifier: "checked" });
    refused = { method: "POST", path, status: 422, headers: refusal.headers, text: refusal.text };
  });

  const expectCaught = (exchange: Exchange, why: RegExp) => {
    expect(() => {
      conformance.check(exchange);
    }).to.throw(NotAsDocumented, why);
  };
  const withFields = (exchange: Exchange, fields: object): Exchange => ({
    ...exchange,
    text: JSON.stringify({ ...(JSON.parse(exchange.text) as object), ...fields }),
  });

  it("passes documented answers", () => {
    conformance.check(accepted);
    conformance.check(refused);
  });

  it("catches an undocumented field at any depth", async () => {
    expectCaught(withFields(accepted, { secret: 1 }), /must NOT have additional properties/);
    expectCaught(withFields(refused, { stack: "at ..." }), /must NOT have additional properties/);
    const page = await api.get("/v1/accounts");
    const listing: Exchange = {
      method: "GET",
      path: "/v1/accounts",
      status: 200,
      headers: page.headers,
      text: page.text,
    };
    conformance.check(listing);
    const [wallet] = page.body.wallets ?? [];
    expectCaught(withFields(listing, { wallets: [{ ...wallet, path: "m/44'" }] }), /additional properties/);
    expectCaught(withFields(refused, { errors: [{ field: "a", code: "b", message: "c", sql: "d" }] }), /additional/);
  });

  it("catches a missing field and a wrong type", () => {
    expectCaught(withFields(accepted, { user_identifier: undefined }), /must have required property 'user_identifier'/);
    expectCaught(withFields(accepted, { address: 1 }), /must be string/);
    expectCaught(withFields(accepted, { address: "0x12" }), /must match pattern/);
  });

  it("catches an undocumented status", () => {
    expectCaught({ ...accepted, status: 201 }, /no such status/);
    expectCaught({ ...refused, status: 418 }, /no such status/);
  });

  it("catches an error code that the operation lacks, or has with another status", () => {
    expectCaught(withFields(refused, { error_code: "insufficient_balance" }), /must be equal to one of the allowed/);
    expectCaught(withFields(refused, { error_code: "forbidden" }), /must be equal to one of the allowed/);
    expectCaught({ ...refused, status: 403 }, /must be equal to constant|must be equal to one of the allowed/);
  });

  it("catches a missing header and a wrong content type", () => {
    expectCaught({ ...accepted, headers: new Headers({ "content-type": "application/json" }) }, /lacks X-Request-Id/);
    const headers = new Headers(accepted.headers);
    headers.set("content-type", "text/html");
    expectCaught({ ...accepted, headers }, /no text\/html/);
  });

  it("catches an answer at an undocumented path or to an undocumented method", () => {
    expectCaught({ ...accepted, path: "/v1/secrets" }, /no such call/);
    expectCaught({ ...accepted, method: "DELETE" }, /no such call/);
    expectCaught({ ...refused, path: "/v1/secrets" }, /no such call/);
  });

  it("prefers a literal path to a template, like the service", () => {
    expect(conformance.find("/v1/accounts/user/history?limit=1")?.template).to.equal(
      "/v1/accounts/user/{user_identifier}",
    );
    expect(conformance.find("/v1/accounts/0x1/history")?.template).to.equal("/v1/accounts/{address}/history");
    expect(conformance.find("/v1/accounts/a/b/c/d")).to.equal(undefined);
  });

  it("runs at every call of the tests", async () => {
    const broken = await startApi();
    // This wallet makes the service give an undocumented answer.
    await broken.post("/v1/accounts", {});
    await broken.database.write((trx) => trx.updateTable("wallets").set({ address: "nowhere" }).execute());
    let caught: unknown;
    try {
      await broken.get("/v1/accounts");
    } catch (error) {
      caught = error;
    }
    await broken.close();
    expect(caught).to.be.instanceOf(NotAsDocumented);
  });
});
