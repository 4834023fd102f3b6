import { expect } from "chai";

import { openSecrets } from "../../../api/keys/webhook-secrets.ts";
import { useApi } from "../support/use-api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";

describe("/v1/webhook", () => {
  const api = useApi();

  const put = (body: object) => api.call("PUT", "/v1/webhook", { body });
  const row = () =>
    api.database.read.selectFrom("webhooks").selectAll().where("app_id", "=", api.app.id).executeTakeFirstOrThrow();

  it("is registered with a secret that is shown once and stored encrypted", async () => {
    const { body } = await put({ url: "https://hooks.example/nft?x=1" });
    expect(body).to.deep.include({ url: "https://hooks.example/nft?x=1", events: null, disabled_at: null });
    expect(body.secret).to.match(/^whsec_[A-Za-z0-9+/]{32}$/);
    const stored = await row();
    expect(stored.secrets).to.not.contain(body.secret);
    const opened = await openSecrets(api.sealer, { webhookId: api.app.id, sealed: stored.secrets }, () =>
      Promise.resolve(false),
    );
    expect(opened).to.deep.equal([{ secret: body.secret, expires_at: null }]);

    const shown = await api.get("/v1/webhook");
    expect(shown.body).to.not.have.property("secret");
    expect(shown.text + api.log.join("")).to.not.contain(body.secret);
  });

  it("keeps its secret when it is changed, and can be enabled again by registering it", async () => {
    await put({ url: "https://hooks.example/a" });
    const before = await row();
    await api.database.write((trx) => trx.updateTable("webhooks").set({ disabled_at: 5 }).execute());
    expect((await api.get("/v1/webhook")).body).to.include({ disabled_at: "1970-01-01T00:00:00.005Z" });
    const { body } = await put({ url: "http://hooks.example/b", events: ["completed", "error", "error"] });
    expect(body).to.deep.include({
      url: "http://hooks.example/b",
      events: ["completed", "error"],
      secret: null,
      disabled_at: null,
    });
    expect((await row()).secrets).to.equal(before.secrets);
  });

  it("exists once per app, is invisible to others, and can be removed", async () => {
    await put({ url: "https://hooks.example/a" });
    expectRefusal(await api.get("/v1/webhook", { token: api.other.token }), 404, "not_found");
    expectRefusal(await api.call("DELETE", "/v1/webhook", { token: api.other.token }), 404, "not_found");
    const removed = await api.call("DELETE", "/v1/webhook");
    expect({ status: removed.status, text: removed.text }).to.deep.equal({ status: 200, text: "{}" });
    expectRefusal(await api.get("/v1/webhook"), 404, "not_found");
    expectRefusal(await api.call("DELETE", "/v1/webhook"), 404, "not_found");
    expect((await put({ url: "https://hooks.example/a" })).body.secret).to.be.a("string");
  });

  for (const [title, body, fields] of [
    ["without a URL", {}, { url: "required" }],
    ["with another scheme", { url: "ftp://hooks.example" }, { url: "invalid_format" }],
    ["with a script", { url: "javascript:alert(1)" }, { url: "invalid_format" }],
    ["with half a URL", { url: "hooks.example" }, { url: "invalid_format" }],
    ["with credentials", { url: "https://me:secret@hooks.example" }, { url: "invalid_format" }],
    ["with a long URL", { url: `https://hooks.example/${"x".repeat(2_048)}` }, { url: "too_long" }],
    ["with unknown events", { url: "https://hooks.example", events: ["lost"] }, { "events.0": "invalid" }],
    ["with no events", { url: "https://hooks.example", events: [] }, { events: "too_short" }],
  ] as const) {
    it(`is refused ${title}`, async () => {
      expectInvalid(await put(body), fields);
    });
  }
});

describe("the URL of a webhook", () => {
  const api = useApi({ per: "block" });

  const put = (url: string) => api.call("PUT", "/v1/webhook", { body: { url } });

  for (const host of [
    "127.0.0.1",
    "10.0.0.1:8080",
    "192.168.1.1",
    "169.254.169.254",
    "0x7f.1",
    "2130706433",
    "0.0.0.0",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[fd00::1]",
    "[64:ff9b::a00:1]",
    "[2002:a00:1::1]",
    "[::ffff:7f00:1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "0177.0.0.1",
    "100.64.0.1",
  ]) {
    it(`is refused with the address ${host}`, async () => {
      expectInvalid(await put(`http://${host}/hook`), { url: "private_address" });
    });
  }

  it("is refused with the setting that allows it", async () => {
    expect((await put("http://10.0.0.1/hook")).body).to.include({
      message:
        "`url`: The address is not public, and the service calls public addresses only. The operator can allow its host with ALLOWED_PRIVATE_HOSTS.",
    });
  });

  it("may have a public address, an address that the operator allows, or any host name", async () => {
    for (const host of [
      "93.184.216.34",
      "[2606:2800:220:1:248:1893:25c8:1946]",
      "10.1.2.3",
      "localhost",
      "a.example",
    ]) {
      expect((await put(`https://${host}/hook`)).status, host).to.equal(200);
    }
  });
});
