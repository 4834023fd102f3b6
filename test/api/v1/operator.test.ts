import { expect } from "chai";

import { failWithoutEffect } from "../../../api/store/requests/request-state.ts";
import { findRequest } from "../../../api/store/requests/requests.ts";
import { useApi } from "../support/use-api.ts";
import { addWallet } from "../support/api-rows.ts";
import { startSession, type TestSession } from "../support/console.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";

interface Point {
  at: string;
  completed: number;
  failed: number;
  latency_p50_ms: number | null;
  latency_p95_ms: number | null;
  fee_wei: string;
}

describe("the operator's calls", () => {
  const api = useApi();
  let operator: TestSession;
  beforeEach(async () => {
    operator = await startSession(api, { appId: null });
  });

  it("answer 503 while there is nothing to show", async () => {
    for (const path of ["status", "doctor"]) {
      expectRefusal(await operator.call("GET", `/v1/operator/${path}`), 503, "unavailable");
    }
  });

  it("need the scope `read`", async () => {
    const minter = await startSession(api, { appId: null, scopes: ["mint"] });
    for (const path of ["apps", "status", "doctor", "series"]) {
      expectRefusal(await minter.call("GET", `/v1/operator/${path}`), 403, "forbidden");
    }
  });

  describe("GET /v1/operator/apps", () => {
    it("lists every app with what it used, in pages", async () => {
      await addWallet(api);
      expectAccepted(await api.post("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" }));
      type App = Record<"app_id" | "name", string> & Record<"today" | "last_30_days" | "quotas", object>;
      const read = async (query: string) =>
        (await operator.call("GET", `/v1/operator/apps${query}`)).body as unknown as {
          apps: App[];
          next: string | null;
        };
      const { apps, next } = await read("");
      expect(next).to.equal(null);
      const first = apps.find(({ app_id: id }) => id === api.app.id);
      expect(first).to.include({ name: "first" });
      expect(first?.today).to.include({ requests_accepted: 1, requests_completed: 0 });
      expect(first?.last_30_days).to.deep.equal(first?.today);
      expect(first?.quotas).to.have.property("wallets").that.includes({ limit: null });
      expect(apps.find(({ app_id: id }) => id === api.other.id)?.today).to.include({ requests_accepted: 0 });
      const one = await read("?limit=1");
      const two = await read(`?limit=1&cursor=${one.next ?? ""}`);
      expect([...one.apps, ...two.apps]).to.deep.equal(apps);
      expect(two.next).to.equal(null);
    });
  });

  describe("POST /v1/operator/apps", () => {
    it("creates an app whose token works, and shows the token once", async () => {
      const body = { name: "  new shop ", scopes: ["read", "mint", "read"], token_name: "server" };
      const made = await operator.call("POST", "/v1/operator/apps", { body });
      expect(made.status, made.text).to.equal(200);
      const app = made.body as unknown as { app_id: string; name: string; token: string; scopes: string[] };
      expect(app.name).to.equal("new shop");
      expect(app.scopes).to.deep.equal(["read", "mint"]);
      expect((await api.get("/v1/requests", { token: app.token })).status).to.equal(200);
      expectRefusal(await api.get("/v1/webhook", { token: app.token }), 403, "forbidden");
      const { text } = await operator.call("GET", "/v1/operator/apps");
      expect(text).to.include(app.app_id).and.not.include(app.token);
    });

    it("gives the token every scope of the session, and no other", async () => {
      const session = await startSession(api, { appId: null, scopes: ["read", "mint"] });
      const made = await session.call("POST", "/v1/operator/apps", { body: { name: "small" } });
      expect((made.body as unknown as { scopes: string[] }).scopes).to.deep.equal(["read", "mint"]);
      const more = { body: { name: "large", scopes: ["read", "transfer"] } };
      expectRefusal(await session.call("POST", "/v1/operator/apps", more), 403, "forbidden");
    });

    it("refuses a name that an app has, also of two calls at the same moment", async () => {
      const create = () => operator.call("POST", "/v1/operator/apps", { body: { name: "twice" } });
      const answers = await Promise.all([create(), create()]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 422]);
      expectRefusal(await create(), 422, "app_name_taken");
    });

    it("refuses bad names and scopes, and names the field", async () => {
      const cases: [object, Record<string, string>][] = [
        [{}, { name: "required" }],
        [{ name: " " }, { name: "too_short" }],
        [{ name: "x".repeat(101) }, { name: "too_long" }],
        [{ name: "a", scopes: [] }, { scopes: "too_short" }],
      ];
      for (const [body, fields] of cases) {
        expectInvalid(await operator.call("POST", "/v1/operator/apps", { body }), fields);
      }
    });
  });

  describe("GET /v1/operator/series", () => {
    const read = async (query = "") =>
      (await operator.call("GET", `/v1/operator/series${query}`)).body as unknown as {
        points: Point[];
        seconds_per_point: number;
      };

    async function fail(ids: readonly string[], createdAt: (index: number) => number): Promise<void> {
      await api.database.write(async (trx) => {
        for (const [index, id] of ids.entries()) {
          const request = await findRequest(trx, api.app.id, id);
          if (request === undefined) throw new Error(`no request ${id}`);
          const moved = { ...request, created_at: createdAt(index), fee_wei: "1000000000001" };
          await failWithoutEffect(
            trx,
            [{ request: moved, outcome: { ok: false, errorCode: "execution_reverted", errors: null } }],
            Date.now(),
          );
        }
      });
    }

    it("counts what became final, with latencies and fees", async () => {
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) {
        ids.push(expectAccepted(await api.post("/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" })));
      }
      const latencies = [1_000, 2_000, 60_000];
      const now = Date.now();
      await fail(ids, (index) => now - (latencies[index] ?? 0));
      const { points, seconds_per_point: seconds } = await read("?hours=1");
      expect(points).to.have.length(7);
      expect(seconds).to.equal(600);
      const last = points.find(({ failed }) => failed > 0);
      expect(last).to.include({ completed: 0, failed: 3, fee_wei: "3000000000003" });
      expect(last?.latency_p50_ms).to.be.within(1_800, 2_400);
      expect(last?.latency_p95_ms).to.be.within(54_000, 72_000);
      const others = points.filter(({ at }) => at !== last?.at);
      for (const point of others) {
        expect(point).to.include({ completed: 0, failed: 0, latency_p50_ms: null, fee_wei: "0" });
      }
    });

    it("has at most 120 points, which cover the hours up to now", async () => {
      for (const hours of [1, 19, 20, 21, 24, 25, 168, 719, 720]) {
        const { points, seconds_per_point: seconds } = await read(`?hours=${hours.toString()}`);
        expect(points.length, hours.toString()).to.be.within(6, 120);
        const [first, last] = [Date.parse(points[0]?.at ?? ""), Date.parse(points.at(-1)?.at ?? "")];
        expect((last - first) / 1_000).to.equal(seconds * (points.length - 1));
        expect(last).to.be.at.most(Date.now());
        expect(last + seconds * 1_000).to.be.above(Date.now() - 60_000);
        expect(first).to.be.within(
          Date.now() - hours * 3_600_000 - seconds * 1_000 - 60_000,
          Date.now() - hours * 3_600_000,
        );
      }
      expect((await read()).seconds_per_point).to.equal(1_200);
    });

    it("refuses other spans", async () => {
      for (const [hours, code] of [
        ["0", "too_small"],
        ["721", "too_big"],
        ["1.5", "wrong_type"],
      ]) {
        expectInvalid(await operator.call("GET", `/v1/operator/series?hours=${hours ?? ""}`), { hours: code ?? "" });
      }
    });
  });
});
