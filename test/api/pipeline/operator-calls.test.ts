import { expect } from "chai";

import { createConsoleLink } from "../../../api/commands/console-session.ts";
import type { Shape } from "../../../client/client.ts";
import { conformanceOf } from "../../support/conformance.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

const PUBLIC_URL = "https://nft.example";

describe("the operator's calls on a real chain", () => {
  // The operator sees the whole service, and a session belongs to its PUBLIC_URL.
  const moneta = useService({ settings: { PUBLIC_URL }, proxy: true });
  const headers: Record<string, string> = { "x-moneta-console": "1", origin: PUBLIC_URL };

  before("sign in and complete a request", async () => {
    const { url } = await createConsoleLink(
      { database: moneta.service.database, publicUrl: PUBLIC_URL },
      { appId: null, scopes: null },
    );
    const answer = await fetch(`${moneta.baseUrl}/v1/console/session`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ code: new URL(url).hash.replace("#code=", "") }),
    });
    headers["cookie"] = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    await moneta.api.collection({ type: "ERC721" });
  });

  async function get<T>(path: string): Promise<T> {
    const response = await fetch(moneta.baseUrl + path, { headers });
    const text = await response.text();
    const { status } = response;
    (await conformanceOf(moneta.baseUrl)).check({ method: "GET", path, status, headers: response.headers, text });
    expect(status, text).to.equal(200);
    return JSON.parse(text) as T;
  }

  it("advise what to send to a lane that is low on funds, and that is enough", async () => {
    const lane = async (low: boolean) =>
      eventually(async () => {
        const found = (await get<Shape<"OperatorStatus">>("/v1/operator/status")).lanes.find((one) => one.lane === 0);
        return found?.low_funds === low ? found : undefined;
      });
    const rich = await lane(false);
    expect(rich.advised_wei).to.equal(null);
    await moneta.fund(rich.address, 1n);
    const poor = await lane(true);
    expect(poor.balance_wei).to.equal("1");
    expect(poor.advised_wei).to.match(/^[1-9]\d{9,}$/);
    await moneta.fund(rich.address, 1n + BigInt(poor.advised_wei ?? ""));
    expect((await lane(false)).advised_wei).to.equal(null);
    await moneta.fund(rich.address, BigInt(rich.balance_wei ?? ""));
  });

  it("show the state of the service, and how long the lanes' funds last", async () => {
    const status = await get<Shape<"OperatorStatus">>("/v1/operator/status");
    expect(status).to.include({ ready: true, oldest_pending_seconds: null, relay_paused: false });
    expect(status.checks).to.include({ database: "ok", chain: "ok" });
    expect(status.backlog).to.deep.equal({ media: 0, pending: 0, processing: 0 });
    expect(status.indexer.checkpoint + (status.indexer.lag_blocks ?? NaN)).to.equal(status.indexer.head);
    expect(status.deliveries).to.deep.include({ waiting: 0, dead: 0 });
    expect(status.processes).to.deep.equal({ api: 1, relayer: 1, other: 0 });
    const [lane] = status.lanes;
    expect(lane).to.include({ lane: 0, in_use: true });
    const [balance, spent] = [BigInt(lane?.balance_wei ?? 0), BigInt(lane?.spent_24h_wei ?? 0)];
    expect(spent > 0n && balance > spent).to.equal(true);
    expect(lane?.days_left).to.equal(Number((balance * 10n) / spent) / 10);
  });

  it("count what became final, with its fee", async () => {
    const { points } = await get<Shape<"OperatorSeries">>("/v1/operator/series?hours=1");
    const active = points.filter(({ completed }) => completed > 0);
    expect(active.map(({ completed }) => completed).reduce((sum, count) => sum + count, 0)).to.equal(1);
    const { requests } = await moneta.api.ok<{ requests: { fee_wei: string }[] }>("GET", "/v1/requests");
    const [request] = requests;
    expect(active[0]?.fee_wei).to.equal(request?.fee_wei);
    expect(active[0]?.latency_p50_ms).to.be.above(0);
  });

  it("run the doctor once for several calls", async () => {
    const reports = await Promise.all([1, 2, 3].map(() => get<Shape<"DoctorReport">>("/v1/operator/doctor")));
    const [first] = reports;
    expect(first?.findings.filter(({ result }) => result !== "ok")).to.deep.equal([]);
    expect(first?.result).to.equal("ok");
    const checks = new Set(first?.findings.map(({ check }) => check));
    expect(checks).to.include.all.keys("chain", "lanes", "numbers", "indexer", "disk", "store", "media");
    for (const report of reports) expect(report).to.deep.equal(first);
  });

  it("show what is known while the node does not answer", async () => {
    moneta.intercept = ({ method }) =>
      method === "eth_getBalance" ? { error: { code: -32_000, message: "out of order" } } : undefined;
    const status = await eventually(async () => {
      const found = await get<Shape<"OperatorStatus">>("/v1/operator/status");
      return found.indexer.head === null ? found : undefined;
    });
    expect(status.indexer.checkpoint).to.be.above(0);
    expect(status.relay_paused).to.equal(null);
    expect(status.lanes[0]).to.include({ lane: 0, balance_wei: null, days_left: null, low_funds: null });
  });
});
