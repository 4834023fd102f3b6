import { expect } from "chai";

import type { Shape } from "../../../client/client.ts";
import { dayOf, dayText } from "../../../api/domain/day.ts";
import { addToCounters, counterKeys } from "../../../api/store/db/counters.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid } from "../support/expect.ts";

describe("GET /v1/usage", () => {
  const api = useApi();

  const usage = async (query = "", token = api.app.token) =>
    (await api.get(`/v1/usage${query}`, { token })).body as unknown as Shape<"Usage">;
  const add = (day: string, gas: number, gwei: number, rest: number) => {
    const key = (figure: "gas" | "fee_gwei" | "fee_rest") =>
      counterKeys.usage(api.app.id, dayOf(Date.parse(day)), figure);
    const deltas = new Map([
      [key("gas"), gas],
      [key("fee_gwei"), gwei],
      [key("fee_rest"), rest],
    ]);
    return api.database.write((trx) => addToCounters(trx, deltas));
  };

  it("shows every day of the range, with exact totals beyond 2^53 wei", async () => {
    await add("2026-05-04", 21_000, 9_007_199_254_740_991, 999_999_999);
    await add("2026-05-06", 1, 1, 2);
    const { from, to, total, days } = await usage("?from=2026-05-04&to=2026-05-06");
    expect([from, to]).to.deep.equal(["2026-05-04", "2026-05-06"]);
    expect(days.map(({ date, gas_used, fee_wei }) => [date, gas_used, fee_wei])).to.deep.equal([
      ["2026-05-04", 21_000, "9007199254740991999999999"],
      ["2026-05-05", 0, "0"],
      ["2026-05-06", 1, "1000000002"],
    ]);
    expect([total.gas_used, total.fee_wei]).to.deep.equal([21_001, "9007199254740993000000001"]);
    expect((await usage("?from=2026-05-05&to=2026-05-05")).total.gas_used).to.equal(0);
  });

  it("counts accepted requests and wallets of the app alone, once each", async () => {
    const body = { type: "ERC721", name: "A", symbol: "AAA" };
    for (let time = 0; time < 2; time++) {
      expectAccepted(await api.post("/v1/collections", body, { headers: { "idempotency-key": "one" } }));
    }
    for (let time = 0; time < 2; time++) await api.post("/v1/accounts", { user_identifier: "alice" });
    const { to, days, total } = await usage();
    expect(to).to.equal(dayText(dayOf(Date.now())));
    expect(days).to.have.length(30);
    expect(total).to.include({ requests_accepted: 1, wallets_created: 1, requests_completed: 0 });
    expect((await usage("", api.other.token)).total).to.include({ requests_accepted: 0, wallets_created: 0 });
  });

  it("refuses days that do not exist, a range that ends before it begins, and one that is too long", async () => {
    const refused = async (query: string, errors: Record<string, string>) => {
      expectInvalid(await api.get(`/v1/usage?${query}`), errors);
    };
    await refused("from=2026-02-30", { from: "invalid_format" });
    await refused("to=yesterday", { to: "invalid_format" });
    await refused("to=1969-12-31", { to: "too_small" });
    await refused("from=2026-05-05&to=2026-05-04", { from: "too_big" });
    await refused("from=2025-05-04&to=2026-05-05", { from: "too_many_days" });
    await refused("from=2020-01-01", { from: "too_many_days" });
    expect((await api.get("/v1/usage?from=2025-05-05&to=2026-05-05")).status).to.equal(200);
    expect((await usage("?to=1970-01-05")).days).to.have.length(5);
  });
});
