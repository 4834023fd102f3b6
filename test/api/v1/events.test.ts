import { expect } from "chai";

import type { DefaultEvent } from "../../../api/domain/events.ts";
import { enqueueEvents } from "../../../api/store/outbox/events.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { storedRequest } from "../support/stored-request.ts";

interface Feed {
  events: { id: string; type: DefaultEvent; request_id: string }[];
  next: string;
}

describe("GET /v1/events", () => {
  const api = useApi();

  const feed = async (query = "", token = api.app.token) =>
    (await api.get(`/v1/events${query}`, { token })).body as unknown as Feed;
  const collection = { type: "ERC721", name: "A", symbol: "AAA" };
  const request = async (token = api.app.token) =>
    expectAccepted(await api.post("/v1/collections", collection, { token }));

  async function happen(id: string, type: DefaultEvent, app = api.app.id): Promise<void> {
    const errorCode = type === "error" ? "execution_reverted" : undefined;
    const request = { ...(await storedRequest(api, id)), app_id: app };
    await api.database.write((trx) => enqueueEvents(trx, [{ request, type, errorCode }], Date.now()));
  }

  it("starts empty, with a cursor for later", async () => {
    const { events, next } = await feed();
    expect(events).to.deep.equal([]);
    expect(await feed(`?after=${next}`)).to.deep.equal({ events: [], next });
    const id = await request();
    await happen(id, "sent");
    expect((await feed(`?after=${next}`)).events.map((event) => event.type)).to.deep.equal(["sent"]);
  });

  it("returns every event once, in order, page by page", async () => {
    const ids = [await request(), await request()];
    for (const type of ["sent", "completed"] as const) for (const id of ids) await happen(id, type);
    const wanted = [...ids.map((id) => [id, "sent"]), ...ids.map((id) => [id, "completed"])];
    const seen: string[][] = [];
    let next = "";
    for (;;) {
      const page = await feed(`?limit=3${next === "" ? "" : `&after=${next}`}`);
      seen.push(...page.events.map((event) => [event.request_id, event.type]));
      next = page.next;
      if (page.events.length < 3) break;
    }
    expect(seen).to.deep.equal(wanted);
    expect((await feed(`?after=${next}`)).next).to.equal(next);
  });

  it("has the same bodies as webhooks, with and without a webhook", async () => {
    const id = await request();
    await happen(id, "error");
    const stored = await api.database.read.selectFrom("events").select("body").executeTakeFirstOrThrow();
    // The names of users are not stored.
    const body = { ...(JSON.parse(stored.body) as object), from_user: null, to_user: null };
    expect((await feed()).events).to.deep.equal([body]);
    expect((await feed()).events[0]).to.include({ request_id: id, error_code: "execution_reverted" });
  });

  it("shows the reference of the request, if it has one", async () => {
    const id = expectAccepted(await api.post("/v1/collections", { ...collection, reference: "order-7" }));
    await happen(id, "completed");
    await happen(await request(), "completed");
    const [first, second] = (await feed()).events;
    expect(first).to.include({ request_id: id, reference: "order-7" });
    expect(second).to.not.have.property("reference");
  });

  it("refuses a wrong limit and a foreign cursor", async () => {
    for (let count = 0; count < 2; count++) await request();
    const { body } = await api.get("/v1/requests?limit=1");
    expectInvalid(await api.get(`/v1/events?after=${body.next ?? ""}`), { after: "invalid_format" });
    expectInvalid(await api.get("/v1/events?after=1"), { after: "invalid_format" });
    expectInvalid(await api.get("/v1/events?limit=31"), { limit: "too_big" });
    expectInvalid(await api.get("/v1/events?limit=0"), { limit: "too_small" });
    expectInvalid(await api.get("/v1/events?offset=1"), { offset: "unknown_field" });
    expectRefusal(await api.call("POST", "/v1/events"), 405, "method_not_allowed");
  });
});
