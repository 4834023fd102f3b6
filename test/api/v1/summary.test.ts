import { expect } from "chai";

import { sendingOf } from "../../../api/v1/endpoints/summary.ts";
import { useApi } from "../support/use-api.ts";
import { addCollection } from "../support/api-rows.ts";
import { expectAccepted } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";

describe("GET /v1/summary", () => {
  const api = useApi({ per: "block" });

  const summary = async (token = api.app.token) => (await api.get("/v1/summary", { token })).body;

  it("counts nothing for a new app", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const nothing = { requests_accepted: 0, requests_completed: 0, requests_failed: 0, mints_completed: 0 };
    const body = (await summary()) as Record<string, unknown>;
    expect(body["today"]).to.deep.equal({ date: today, ...nothing });
    expect(body["yesterday"]).to.deep.include(nothing);
    expect(body).to.include({ requests_waiting: 0, collections: 0, wallets: 0, sending: "unknown" });
  });

  it("counts the app's own requests, collections and wallets", async () => {
    const contract = await addCollection(api);
    await api.post("/v1/accounts", { user_identifier: "counted" });
    const mint = { collection_address: contract, to_address: randomAddress() };
    for (let index = 0; index < 3; index++) expectAccepted(await api.post("/v1/nfts", mint));
    const body = (await summary()) as unknown as Record<"today", Record<string, number>>;
    expect(body).to.include({ requests_waiting: 3, collections: 1, wallets: 1 });
    expect(body.today["requests_accepted"]).to.be.at.least(3);
    expect(await summary(api.other.token)).to.include({ requests_waiting: 0, collections: 0, wallets: 0 });
  });
});

describe("what an app learns about sending", () => {
  const lane = (lowFunds: boolean | null, inUse = true) => ({ lowFunds, inUse });
  const cases: [ReturnType<typeof sendingOf>, Parameters<typeof sendingOf>[0]][] = [
    ["unknown", null],
    ["unknown", { relayPaused: null, lanes: [] }],
    ["unknown", { relayPaused: null, lanes: [lane(null), lane(true)] }],
    ["ok", { relayPaused: false, lanes: [lane(true), lane(false)] }],
    ["low_funds", { relayPaused: false, lanes: [lane(true), lane(false, false)] }],
    ["paused", { relayPaused: true, lanes: [lane(false)] }],
  ];
  for (const [word, state] of cases) {
    it(`is ${word} for ${JSON.stringify(state)}`, () => {
      expect(sendingOf(state)).to.equal(word);
    });
  }
});
