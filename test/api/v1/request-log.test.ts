import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { addCollection } from "../support/api-rows.ts";
import { expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";

describe("the request log", () => {
  const api = useApi();

  it("has no user identifier from a path or a query", async () => {
    const user = "alice@example.com";
    await api.post("/v1/accounts", { user_identifier: user });
    for (const path of [
      `/v1/accounts/user/${encodeURIComponent(user)}`,
      `/V1/Accounts/User/${user}/`,
      `/v1/accounts?user_identifier=${user}&limit=3`,
      `/v1/accounts/user/${user}?x=${user}`,
      `/v1/accounts/user/a/${user}`,
      `/v1/requests?${user}&x=${user}?limit=${user}&status=failed`,
    ]) {
      await api.get(path);
    }
    const log = api.log.join("");
    expect(log).to.not.contain("alice").and.not.contain("example.com");
    expect(log)
      .to.contain('"/v1/accounts/user/[redacted]"')
      .and.contain("limit=3")
      .and.contain("?[redacted]&[redacted]&status=failed");
  });
});

describe("an internal error", () => {
  const api = useApi();

  it("is logged without the unlockable content, the metadata or the token of the call", async () => {
    const collection = await addCollection(api);
    await api.database.write((trx) => trx.schema.alterTable("requests").renameTo("gone").execute());
    const body = {
      collection_address: collection,
      to_address: randomAddress(),
      name: "private name",
      unlockable_content: "private words",
    };
    expectRefusal(await api.post("/v1/nfts", body), 500, "internal_error");
    const log = api.log.join("");
    expect(log).to.match(/no such table: requests|relation \\"requests\\" does not exist/);
    expect(log).to.not.contain("private").and.not.contain(api.app.token);
  });

  it("is logged without the webhook's secret", async () => {
    await api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/a" } });
    await api.database.write((trx) => trx.updateTable("webhooks").set({ secrets: "rubbish.rubbish" }).execute());
    expectRefusal(await api.post("/v1/webhook/secret", {}), 500, "internal_error");
    expect(api.log.join("")).to.contain('"level":50').and.not.contain("whsec_");
  });
});
