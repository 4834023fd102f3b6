import { request as httpRequest } from "node:http";

import { expect } from "chai";

import { CONDITIONS, PARKED_KINDS } from "../../../api/domain/conditions.ts";
import { METRICS } from "../../../api/metrics/catalog.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { type Scrape, scrape, scrapeOnce } from "./support.ts";

describe("/metrics", () => {
  // The figures count all that the service does.
  const moneta = useService({ settings: { METRICS_PORT: "0" } });
  const { api } = moneta;
  const read = () => scrape(moneta.service.metricsPort);
  let wallet: string;
  let mint: string;

  before("mint a token, and let a mint fail", async () => {
    const collection = await api.collection({ type: "ERC721", mint_supply_count: 2 });
    wallet = await api.wallet();
    mint = await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
    expect((await api.settled(mint)).status).to.equal("completed");
    const refused = await api.accept("/v1/nfts", { collection_address: collection, to_address: collection });
    expect((await api.settled(refused)).status).to.equal("failed");
  });

  it("has every metric of the catalog, in the text format", async () => {
    const response = await fetch(`http://127.0.0.1:${String(moneta.service.metricsPort)}/metrics`);
    expect(response.headers.get("content-type")).to.match(/^text\/plain; version=0\.0\.4/);
    const all = Object.values(METRICS);
    await scrapeOnce(moneta.service.metricsPort, ({ names }) => all.every(({ name }) => names.has(name)));
  });

  it("counts each step of a request, and how long it took", async () => {
    const settled = { type: "mint" };
    const found = await scrapeOnce(
      moneta.service.metricsPort,
      (now) => now.value("moneta_request_settled_seconds_count", settled) === 2,
    );
    const requests = (status: string, code = "") =>
      found.value("moneta_requests_total", { type: "mint", status, error_code: code });
    expect(requests("pending")).to.equal(2);
    expect(requests("completed")).to.equal(1);
    expect(requests("failed", "receiver_rejected")).to.equal(1);
    expect(found.value("moneta_request_sent_seconds_count", { type: "mint" })).to.equal(requests("processing"));
    expect(found.value("moneta_batch_items_sum")).to.be.at.least(2);
  });

  it("reads the state of the pipeline from the database and the chain", async () => {
    const sources = ["database", "chain", "disk"];
    const found = await scrapeOnce(
      moneta.service.metricsPort,
      (now) =>
        now.value("moneta_backlog", { state: "processing" }) === 0 &&
        sources.every((source) => now.value("moneta_source_up", { source }) === 1),
    );
    for (const state of ["media", "pending"]) expect(found.value("moneta_backlog", { state }), state).to.equal(0);
    expect(found.value("moneta_backlog_oldest_seconds")).to.equal(0);
    expect(found.value("moneta_lane_oldest_unmined_seconds", { lane: "0" })).to.equal(0);
    expect(found.value("moneta_lane_balance_wei", { lane: "0" })).to.be.above(1e18);
    expect(found.value("moneta_index_lag_blocks")).to.be.within(0, 2);
    expect(found.value("moneta_quarantined_contracts")).to.equal(0);
    expect(found.value("moneta_database_bytes")).to.be.above(10_000);
    expect(found.value("moneta_disk_free_bytes")).to.be.above(0);
    for (const kind of PARKED_KINDS) expect(found.value("moneta_parked_rows", { kind }), kind).to.equal(0);
    for (const condition of CONDITIONS) expect(found.value("moneta_condition", { condition }), condition).to.equal(0);
  });

  it("measures the node, the database and the event loop", async () => {
    const found = await read();
    const head = { method: "eth_getBlockByNumber", outcome: "ok" };
    expect(found.value("moneta_rpc_seconds_count", head)).to.be.above(0);
    for (const operation of ["statement", "write"])
      expect(found.value("moneta_database_seconds_count", { operation }), operation).to.be.above(0);
    expect(found.value("moneta_event_loop_delay_seconds", { quantile: "0.99" })).to.be.within(0, 60);
  });

  it("counts tries of webhooks by their outcome", async () => {
    const receiver = await WebhookReceiver.listen();
    try {
      await api.ok("PUT", "/v1/webhook", { url: receiver.url });
      await api.ok("POST", "/v1/webhook/test", {});
      const delivered = { outcome: "delivered" };
      await eventually(async () => (await read()).value("moneta_webhook_attempts_total", delivered) === 1 || undefined);
    } finally {
      await api.ok("DELETE", "/v1/webhook");
      await receiver.close();
    }
  });

  it("names routes by their template", async () => {
    await api.ok("GET", `/v1/requests/${mint}`);
    const route = { method: "GET", route: "/v1/requests/:request_id", status: "200" };
    await eventually(async () => ((await read()).value("moneta_http_seconds_count", route) ?? 0) > 0 || undefined);
    // A token that does not exist reaches no endpoint.
    await fetch(`${moneta.baseUrl}/v1/requests/${mint}`, { headers: { authorization: "Bearer wrong" } });
    const refused = { method: "GET", route: "/v1/*", status: "401" };
    await eventually(async () => ((await read()).value("moneta_http_seconds_count", refused) ?? 0) > 0 || undefined);
  });

  it("does not grow with odd paths, methods and names", async () => {
    const series = (found: Scrape) =>
      new Set(found.samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`));
    const call = (index: number) =>
      Promise.all([
        fetch(`${moneta.baseUrl}/odd-${index.toString()}/metrics?x=${index.toString()}`),
        fetch(`${moneta.baseUrl}/v1/odd${index.toString()}/x`),
        fetch(`${moneta.baseUrl}/metadata/odd${index.toString()}/0x12`),
        fetch(`${moneta.baseUrl}/ipfs/odd${index.toString()}%00`),
        api.send("GET", `/v1/requests/odd${index.toString()}`),
        api.send("GET", `/v1/collections/odd${index.toString()}/%2e%2e/odd`),
        api.send("PATCH", `/v1/accounts/odd${index.toString()}`),
        odd("PROPFIND", `//odd${index.toString()}/%ff`),
      ]);
    const odd = (method: string, path: string) =>
      new Promise<void>((resolve, reject) => {
        httpRequest(`${moneta.baseUrl}/`, { method, path }, (response) => {
          response.resume().on("end", resolve);
        })
          .on("error", reject)
          .end();
      });
    for (let index = 0; index < 5; index++) await call(index);
    const before = series(await read());
    for (let index = 100; index < 140; index++) await call(index);
    const found = await read();
    // Other parts of the service go on meanwhile: only calls are compared.
    const added = [...series(found)].filter((one) => one.startsWith("moneta_http") && !before.has(one));
    expect(added).to.deep.equal([]);
    expect(found.text).not.to.match(/odd|PROPFIND/);
  });

  it("names no app, wallet, collection or request", async () => {
    const { text } = await read();
    expect(text).not.to.match(/0x[0-9a-f]{4}/i);
    expect(text).not.to.include(moneta.app.appId);
    expect(text).not.to.include(mint);
    expect(text.toLowerCase()).not.to.include(wallet.slice(2).toLowerCase());
  });

  it("answers nothing else on its port, and is not on the port of the API", async () => {
    const at = `http://127.0.0.1:${String(moneta.service.metricsPort)}`;
    expect((await fetch(`${at}/v1/requests`)).status).to.equal(404);
    expect((await fetch(`${at}/metrics`, { method: "POST" })).status).to.equal(405);
    expect((await fetch(`${moneta.baseUrl}/metrics`)).status).to.equal(404);
  });
});
