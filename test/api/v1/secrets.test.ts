import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { expectRefusal } from "../support/expect.ts";
import { addCollection } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";

describe("an internal error", () => {
  const api = useApi({ per: "test" });

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
