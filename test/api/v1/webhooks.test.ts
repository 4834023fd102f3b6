import { expect } from "chai";

import { recordTries } from "../../../api/store/outbox/deliveries.ts";
import { enqueueEvents } from "../../../api/store/outbox/events.ts";
import type { Item } from "../support/api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { addRequest, creation, randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

const URL = "https://hooks.example/nft";
const MOST = 10;

interface Webhook extends Item {
  id: string;
  url: string;
  secret: string;
  last_error: string | null;
}

describe("/v1/webhooks", () => {
  const api = useApi();

  const post = (body: object, token = api.app.token) => api.call("POST", "/v1/webhooks", { body, token });
  const create = async (body: object = {}) => (await post({ url: URL, ...body })).body as Webhook;
  const list = async (token = api.app.token) =>
    ((await api.get("/v1/webhooks", { token })).body as unknown as { webhooks: Webhook[] }).webhooks;
  const patch = (id: string, body: object) => api.call("PATCH", `/v1/webhooks/${id}`, { body });
  const remove = (id: string) => api.call("DELETE", `/v1/webhooks/${id}`);
  const putFirst = () => api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/first" } });
  const deliveriesOf = async (path: string) =>
    ((await api.get(path)).body as unknown as { deliveries: Item[]; total: number }).deliveries;

  it("are created, each with its own secret, and listed without secrets, the first one first", async () => {
    const collection = randomAddress();
    const one = await create({
      events: ["token.sent", "gap", "token.sent"],
      collections: [collection.toLowerCase(), collection],
      description: "market",
    });
    expect(one).to.deep.include({
      url: URL,
      events: ["token.sent", "gap"],
      collections: [collection],
      description: "market",
      disabled_at: null,
      last_error: null,
    });
    const other = await create();
    expect(other).to.deep.include({ events: null, collections: null, description: null });
    expect(new Set([one.id, other.id, api.app.id]).size).to.equal(3);
    expect(one.secret)
      .to.match(/^whsec_/)
      .and.to.not.equal(other.secret);
    await putFirst();
    const { secret: _secret, ...shown } = one;
    const listed = await list();
    expect(listed.map(({ id }) => id)).to.deep.equal([api.app.id, one.id, other.id]);
    expect(listed[1]).to.deep.equal(shown);
    expect((await api.get(`/v1/webhooks/${one.id}`)).body).to.deep.equal(shown);
    expect(api.log.join("")).to.not.contain(one.secret);
  });

  it("include that of /v1/webhook, whose removal promotes none, and which can be registered again", async () => {
    await putFirst();
    const other = await create();
    const { body: first } = await api.get("/v1/webhook");
    expect((await api.get(`/v1/webhooks/${api.app.id}`)).body).to.deep.equal(first);
    expect(first).to.include({ id: api.app.id });
    expect((await remove(api.app.id)).status).to.equal(200);
    expectRefusal(await api.get("/v1/webhook"), 404, "not_found");
    expect((await list()).map(({ id }) => id)).to.deep.equal([other.id]);
    expect((await putFirst()).body.secret).to.match(/^whsec_/);
    expect((await list()).map(({ id }) => id)).to.deep.equal([api.app.id, other.id]);
    expect((await api.call("DELETE", "/v1/webhook")).status).to.equal(200);
    expect((await list()).map(({ id }) => id)).to.deep.equal([other.id]);
  });

  it("change only in the fields that a call names", async () => {
    const collection = randomAddress();
    const {
      id,
      secret: _secret,
      ...before
    } = await create({
      events: ["error"],
      collections: [collection],
      description: "x",
    });
    const changed = async (body: object) => {
      const { updated_at: _updated, ...rest } = (await patch(id, body)).body as Item & { updated_at?: string };
      return rest;
    };
    const { updated_at: _updated, ...same } = { id, ...before } as Item & { updated_at?: string };
    expect(await changed({ description: "y" })).to.deep.equal({ ...same, description: "y" });
    expect(await changed({ events: null, description: "" })).to.deep.equal({
      ...same,
      events: null,
      description: null,
    });
    const more = { url: "https://hooks.example/b", events: ["gap"], collections: null };
    expect(await changed(more)).to.deep.equal({ ...same, ...more, description: null });
    expect(await changed({ url: URL })).to.deep.equal({ ...same, ...more, url: URL, description: null });
  });

  it("are enabled by a URL only", async () => {
    const { id } = await create();
    await api.database.write((trx) => trx.updateTable("webhooks").set({ disabled_at: 5 }).execute());
    const answer = await api.post(`/v1/webhooks/${id}/test`, {});
    expectInvalid(answer, { webhook: "disabled" });
    expect(answer.text).to.contain(`PATCH /v1/webhooks/${id}`);
    expect((await patch(id, { description: "still disabled" })).body).to.include({
      disabled_at: "1970-01-01T00:00:00.005Z",
    });
    expect((await patch(id, { url: URL })).body).to.include({ disabled_at: null });
  });

  it("are at most ten, with the first, also when two calls come at the same time", async () => {
    for (let count = 1; count < MOST; count++) await create();
    const raced = await Promise.all([post({ url: URL }), post({ url: URL }), putFirst()]);
    expect(raced.filter(({ status }) => status === 200)).to.have.length(1);
    expect(await list()).to.have.length(MOST);
    expectRefusal(await post({ url: URL }), 422, "too_many_webhooks");
    expect((await post({ url: URL }, api.other.token)).status).to.equal(200);
    const { id = "" } = (await list()).at(-1) ?? {};
    await remove(id);
    expect((await post({ url: URL })).status).to.equal(200);
  });

  it("of another app look as if they did not exist, to every call", async () => {
    const { id } = (await post({ url: "https://theirs.example/" }, api.other.token)).body as unknown as Webhook;
    for (const theirs of [id, api.other.id, "unknown", "\0"]) {
      const path = `/v1/webhooks/${encodeURIComponent(theirs)}`;
      const answers = [
        await api.get(path),
        await api.call("PATCH", path, { body: { url: URL } }),
        await api.call("DELETE", path),
        await api.post(`${path}/test`, {}),
        await api.post(`${path}/secret`, {}),
        await api.get(`${path}/deliveries`),
        await api.post(`${path}/deliveries/redeliver`, {}),
      ];
      for (const answer of answers) expectRefusal(answer, 404, "not_found");
    }
    expect(await list()).to.deep.equal([]);
    expect((await list(api.other.token)).map((webhook) => webhook.url)).to.deep.equal(["https://theirs.example/"]);
  });

  it("have deliveries of their own, and a delivery is sent again to its webhook", async () => {
    await putFirst();
    const [one, other] = [await create(), await create()];
    const { body: sent } = await api.post(`/v1/webhooks/${one.id}/test`, {});
    const [delivery] = await deliveriesOf(`/v1/webhooks/${one.id}/deliveries`);
    expect(delivery).to.deep.equal(sent).and.to.include({ webhook_id: one.id, event_type: "test" });
    expect(await deliveriesOf(`/v1/webhooks/${other.id}/deliveries`)).to.deep.equal([]);
    expect(await deliveriesOf("/v1/webhook/deliveries")).to.deep.equal([]);
    const { id } = delivery as unknown as { id: string };
    await api.database.write((trx) =>
      recordTries(
        trx,
        [{ id, fence: 0, result: { responseStatus: 500, responseBody: null, error: "it fell", nextAt: null } }],
        1,
      ),
    );
    expect((await list()).map(({ last_error }) => last_error)).to.deep.equal([null, "it fell", null]);
    expect((await api.post("/v1/webhook/deliveries/redeliver", {})).body).to.deep.equal({
      redelivered: 0,
      more: false,
    });
    const path = `/v1/webhooks/${one.id}/deliveries/redeliver`;
    expect((await api.post(path, {})).body).to.deep.equal({ redelivered: 1, more: false });
    expect((await api.post(`/v1/webhook/deliveries/${id}/redeliver`, {})).body).to.include({ webhook_id: one.id });
    expect(await deliveriesOf(`/v1/webhooks/${one.id}/deliveries`)).to.have.length(3);
    expect((await api.get(`/v1/webhooks/${one.id}/deliveries?limit=1`)).body).to.include({ total: 3 });
    await remove(one.id);
    expectRefusal(await api.get(`/v1/webhooks/${one.id}/deliveries`), 404, "not_found");
    expectRefusal(await api.post(`/v1/webhook/deliveries/${id}/redeliver`, {}), 404, "not_found");
  });

  it("rotate their secrets one by one", async () => {
    const [one, other] = [await create(), await create()];
    const secretsOf = async () => {
      const rows = await api.database.read.selectFrom("webhooks").select(["id", "secrets"]).execute();
      return new Map(rows.map(({ id, secrets }) => [id, secrets]));
    };
    const before = await secretsOf();
    const { body } = await api.post(`/v1/webhooks/${one.id}/secret`, {});
    expect(body.secret)
      .to.match(/^whsec_/)
      .and.to.not.equal(one.secret);
    const after = await secretsOf();
    expect(after.get(other.id)).to.equal(before.get(other.id));
    expect(after.get(one.id)).to.not.equal(before.get(one.id));
  });

  it("get the events that they chose, by type and by contract", async () => {
    const [mine, another] = [randomAddress(), randomAddress()];
    const wanted = {
      default: {},
      errors: { events: ["error"] },
      tokens: { events: ["token.sent"] },
      mine: { collections: [mine] },
      another: { collections: [another] },
    };
    const ids: Record<string, string> = {};
    for (const [name, body] of Object.entries(wanted)) ids[name] = (await create(body)).id;
    const request = await addRequest(api.database, creation(), { app: api.app.id });
    const events = [
      { request, type: "sent" },
      { request: { ...request, nft_collection: mine }, type: "completed" },
    ] as const;
    await api.database.write((trx) => enqueueEvents(trx, events, 1));
    const got: Record<string, unknown[]> = {};
    for (const [name, id] of Object.entries(ids))
      got[name] = (await deliveriesOf(`/v1/webhooks/${id}/deliveries`)).map((one) => one["event_type" as never]);
    expect(got).to.deep.equal({
      default: ["completed", "sent"],
      errors: [],
      tokens: [],
      mine: ["completed"],
      another: [],
    });
  });

  for (const [title, body, fields] of [
    ["without a URL", {}, { url: "required" }],
    ["with a private address", { url: "http://169.254.169.254/" }, { url: "private_address" }],
    ["with unknown events", { url: URL, events: ["test"] }, { "events.0": "invalid" }],
    ["with no events", { url: URL, events: [] }, { events: "too_short" }],
    ["with no contracts", { url: URL, collections: [] }, { collections: "too_short" }],
    ["with a wrong address", { url: URL, collections: ["0x12"] }, { "collections.0": "invalid_format" }],
    [
      "with too many contracts",
      { url: URL, collections: Array.from({ length: 101 }, randomAddress) },
      { collections: "too_long" },
    ],
    ["with a long description", { url: URL, description: "x".repeat(257) }, { description: "too_long" }],
    ["with an unknown field", { url: URL, secret: "mine" }, { secret: "unknown_field" }],
  ] as const) {
    it(`are not created ${title}`, async () => {
      expectInvalid(await post(body), fields);
      expect(await list()).to.deep.equal([]);
    });
  }

  it("are not changed by an empty or a wrong call", async () => {
    const { id } = await create();
    const before = await list();
    expectInvalid(await patch(id, {}), { body: "required" });
    expectInvalid(await patch(id, { url: "http://10.0.0.1/" }), { url: "private_address" });
    expectInvalid(await patch(id, { url: "ftp://hooks.example" }), { url: "invalid_format" });
    expectInvalid(await patch(id, { description: "x", disabled_at: null }), { disabled_at: "unknown_field" });
    expect(await list()).to.deep.equal(before);
  });
});
