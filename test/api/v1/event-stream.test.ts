import { expect } from "chai";

import type { DefaultEvent } from "../../../api/domain/events.ts";
import { revokeApiToken } from "../../../api/store/apps/api-tokens.ts";
import { enqueueEvents } from "../../../api/store/outbox/events.ts";
import { writePosition } from "../../../api/v1/schemas/events.ts";
import { eventually } from "../../support/eventually.ts";
import { EventReader } from "../../support/event-reader.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { storedRequest } from "../support/stored-request.ts";

const STREAM = { accept: "text/event-stream" };
const HUGE = "events.999999999999999";

describe("GET /v1/events with Accept: text/event-stream", () => {
  let api: TestApi;
  const readers: EventReader[] = [];
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    await api.close();
  });

  const open = async (query = "", headers: Record<string, string> = {}, token = api.app.token) => {
    const reader = await EventReader.open(`${api.baseUrl}/v1/events${query}`, token, headers);
    readers.push(reader);
    return reader;
  };
  const request = async (token = api.app.token) =>
    expectAccepted(await api.post("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" }, { token }));

  /** Stores an event as another process does: nothing wakes this one. */
  async function happen(ids: string | string[], type: DefaultEvent): Promise<void> {
    const requests = await Promise.all([ids].flat().map((id) => storedRequest(api, id)));
    const events = requests.sort((a, b) => a.seq - b.seq).map((request) => ({ request, type }));
    await api.database.write((trx) => enqueueEvents(trx, events, Date.now()));
  }
  const feed = async (query = "") =>
    (await api.get(`/v1/events${query}`)).body as unknown as { events: { id: string }[] };

  describe("given the usual settings", () => {
    beforeEach(async () => {
      api = await startApi();
    });

    it("sends each event as it is stored: cursor, type, and the body of the webhook", async () => {
      const reader = await open();
      const id = await request();
      await happen(id, "sent");
      await happen(id, "completed");
      const events = await reader.first(2);
      expect(events.map(({ type, body }) => [type, body.request_id])).to.deep.equal([
        ["sent", id],
        ["completed", id],
      ]);
      expect(events.map(({ body }) => body)).to.deep.equal((await feed()).events);
      expect(events.map((event) => event.id)).to.deep.equal([writePosition(1), writePosition(2)]);
    });

    it("begins with the next event, and says where that is", async () => {
      const id = await request();
      await happen(id, "sent");
      const reader = await open();
      expect(reader.headers.get("last-event-id")).to.equal(writePosition(1));
      await reader.until(() => reader.text.includes("\n\n"), "the position");
      expect(reader.text).to.equal(`retry: 1000\nid: ${writePosition(1)}\n\n`);
      reader.close();
      await happen(id, "completed");
      const again = await open("", { "last-event-id": reader.position });
      expect((await again.first(1))[0]?.type).to.equal("completed");
    });

    it("continues after Last-Event-ID, which wins over `after`", async () => {
      const ids = [await request(), await request(), await request()];
      await happen(ids, "sent");
      const reader = await open(`?after=${writePosition(2)}`, { "last-event-id": writePosition(1) });
      const events = await reader.first(2);
      expect(events.map(({ body }) => body.request_id)).to.deep.equal(ids.slice(1));
    });

    it("tells proxies to store, compress and delay nothing", async () => {
      const { headers } = await open();
      expect(headers.get("content-type")).to.equal("text/event-stream; charset=utf-8");
      expect(headers.get("cache-control")).to.equal("no-cache, no-transform");
      expect(headers.get("x-accel-buffering")).to.equal("no");
      expect(headers.get("content-encoding")).to.equal(null);
      expect(headers.get("vary")).to.match(/accept/i);
    });

    it("sends many pages of events from `after=start` on, each event once and in order", async () => {
      const ids = await Promise.all(Array.from({ length: 200 }, () => request()));
      await happen(ids, "sent");
      const [all, rest] = await Promise.all([open("?after=start"), open(`?after=${writePosition(150)}`)]);
      const positions = (await all.first(200)).map((event) => event.id);
      expect(positions).to.deep.equal(Array.from({ length: 200 }, (_, index) => writePosition(index + 1)));
      expect((await rest.first(50))[0]?.id).to.equal(writePosition(151));
    });

    it("passes over positions that have no event", async () => {
      const id = await request();
      const reader = await open("?after=start");
      // The second `sent` of a request is left out, but it has taken a position.
      for (let count = 0; count < 3; count++) await happen(id, "sent");
      await happen(id, "completed");
      const events = await reader.first(2);
      expect(events.map((event) => event.id)).to.deep.equal([writePosition(1), writePosition(4)]);
    });

    it("sends only the app's own events", async () => {
      const mine = await open("?after=start");
      const theirs = await open("?after=start", {}, api.other.token);
      const [own, other] = [await request(), await request(api.other.token)];
      await happen(other, "sent");
      await happen(own, "sent");
      await happen(other, "completed");
      await mine.first(1);
      await theirs.first(2);
      expect(mine.events.map(({ body }) => body.request_id)).to.deep.equal([own]);
      expect(theirs.events.map(({ body }) => body.request_id)).to.deep.equal([other, other]);
    });

    it("answers JSON unless a stream is preferred", async () => {
      for (const accept of ["*/*", "application/json", "text/html", "application/json, text/event-stream;q=0.5"]) {
        const answer = await api.get("/v1/events", { headers: { accept } });
        expect(answer.headers.get("content-type"), accept).to.match(/^application\/json/);
      }
    });

    it("answers HEAD without a stream", async () => {
      const answer = await api.call("HEAD", "/v1/events", { headers: STREAM });
      expect([answer.status, answer.headers.get("content-type")]).to.deep.equal([
        200,
        "text/event-stream; charset=utf-8",
      ]);
    });

    it("refuses a malformed position, and a limit", async () => {
      for (const id of ["1", "", "events.1", Buffer.from("events.-1").toString("base64url")]) {
        const headers = { ...STREAM, "last-event-id": id };
        expectInvalid(await api.get("/v1/events", { headers }), { "Last-Event-ID": "invalid_format" });
      }
      expectInvalid(await api.get("/v1/events?after=1", { headers: STREAM }), { after: "invalid_format" });
      expectInvalid(await api.get("/v1/events?limit=5", { headers: STREAM }), { limit: "invalid" });
      expectRefusal(await api.get("/v1/events", { headers: STREAM, token: "moneta_none" }), 401, "unauthorized");
    });

    it("waits at a position that the feed has not reached", async () => {
      const reader = await open(`?after=${Buffer.from(HUGE).toString("base64url")}`);
      const other = await open();
      await happen(await request(), "sent");
      await other.first(1);
      expect(reader.events).to.deep.equal([]);
    });
  });

  it("counts as one call", async () => {
    api = await startApi({ limits: { ratePerMinute: 10 } });
    const reader = await open();
    expect(reader.headers.get("ratelimit")).to.match(/r=9;/);
    await happen(await request(), "sent");
    await reader.first(1);
    expect((await api.get("/v1/events")).headers.get("ratelimit")).to.match(/r=7;/);
  });

  it("sends a comment while there are no events", async () => {
    api = await startApi({ streamTimes: { heartbeat: 20 } });
    const reader = await open();
    await reader.until(() => reader.comments.length >= 3, "comments");
    expect(reader.events).to.deep.equal([]);
  });

  it("ends when the token is revoked, and sends nothing after that", async () => {
    api = await startApi({ streamTimes: { checkTokens: 20 } });
    const reader = await open();
    const other = await open("", {}, api.other.token);
    const { id } = await api.database.read
      .selectFrom("api_tokens")
      .select("id")
      .where("app_id", "=", api.app.id)
      .executeTakeFirstOrThrow();
    await api.database.write((trx) => revokeApiToken(trx, id, Date.now()));
    expect(await reader.ended).to.equal(true);
    expect(reader.comments).to.deep.equal(["the token or session is not valid any more"]);
    await happen(await request(api.other.token), "sent");
    await other.first(1);
  });

  it("limits the open streams of an app, and of all apps", async () => {
    api = await startApi({ limits: { appEventStreams: 2, eventStreams: 3 } });
    const [first] = [await open(), await open()];
    const refused = await api.get("/v1/events", { headers: STREAM });
    expectRefusal(refused, 429, "rate_limited");
    expect(refused.headers.get("retry-after")).to.equal("30");
    expect(refused.text).to.match(/has 2 event streams open/);
    await open("", {}, api.other.token);
    expectRefusal(await api.get("/v1/events", { headers: STREAM, token: api.other.token }), 503, "unavailable");
    // JSON is still answered, and a closed stream makes room for another.
    expect((await api.get("/v1/events")).status).to.equal(200);
    first.close();
    await eventually(() => open().catch(() => undefined));
  });

  it("ends at once when the service stops, and asks the client to reconnect", async () => {
    api = await startApi();
    const reader = await open();
    await api.close();
    expect(await reader.ended).to.equal(true);
    // A connection that is cut, because it stayed open for too long, ends without the comment.
    expect(reader.comments).to.deep.equal(["the service stops; reconnect"]);
    expect(reader.retries).to.have.length(2);
    api.close = () => Promise.resolve();
  });
});
