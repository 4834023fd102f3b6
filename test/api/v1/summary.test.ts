import { expect } from "chai";

import { LANE_STUCK } from "../../../api/domain/conditions.ts";
import type { PipelineReasons, StoredReason } from "../../../api/domain/waiting-for.ts";
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
  const lane = (low: boolean, inUse = true) => ({ lane: 0, address: "0x", wei: 0n, advised: null, low, inUse });
  const chain = {
    head: 1,
    relayPaused: false,
    gasPrice: 1n,
    feesTooHigh: false,
    batchCost: 1n,
    balances: [lane(false)],
  };
  const sends = { inUse: true, waitingFor: null, unmined: [] };
  const reasons = { isSending: true, indexer: null, lanes: [sends] };
  const blocked = (waitingFor: StoredReason) => ({ ...reasons, lanes: [{ ...sends, waitingFor }] });
  const cases: [ReturnType<typeof sendingOf>, Parameters<typeof sendingOf>[0], PipelineReasons | null][] = [
    ["unknown", null, reasons],
    ["unknown", chain, null],
    ["unknown", { ...chain, relayPaused: null, balances: [] }, reasons],
    ["unknown", { ...chain, balances: [lane(false, false)] }, reasons],
    ["ok", chain, reasons],
    ["ok", chain, { ...reasons, lanes: [] }],
    ["ok", { ...chain, balances: [lane(true), lane(false)] }, reasons],
    ["low_funds", { ...chain, balances: [lane(true), lane(false, false)] }, reasons],
    ["paused", { ...chain, relayPaused: true }, reasons],
    ["fees_too_high", { ...chain, feesTooHigh: true, balances: [lane(true)] }, reasons],
    ["fees_too_high", chain, blocked("fees_too_high")],
    ["low_funds", chain, blocked("low_funds")],
    ["paused", chain, blocked("paused")],
    ["unknown", chain, blocked("node_unavailable")],
    ["unknown", chain, { ...reasons, isSending: false }],
    ["lane_stuck", chain, { ...reasons, lanes: [{ ...sends, unmined: [{ id: 1, createdAt: -LANE_STUCK - 1 }] }] }],
  ];
  for (const [word, state, its] of cases) {
    const shown = { ...state, ...its };
    const text = JSON.stringify(shown, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
    it(`is ${word} for ${text}`, () => {
      expect(sendingOf(state, its, 0)).to.equal(word);
    });
  }
});
