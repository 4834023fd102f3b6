import { createServer } from "node:net";

import { expect } from "chai";

import { useService } from "../../support/use-service.ts";
import { scrapeOnce } from "./support.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";

describe("/metrics of processes", () => {
  const moneta = useService({ start: false });
  const { api } = moneta;
  const portOf = (output: string) => Number(/"metricsPort":(\d+)/.exec(output)?.[1]);

  it("has all figures in one answer, and the same state in every process", async () => {
    const all = await moneta.startProcess({ METRICS_PORT: "0" });
    await api.completed("/v1/nfts", {
      collection_address: await api.collection({ type: "ERC721" }),
      to_address: await api.wallet(),
    });
    const steps = ["pending", "processing", "completed"];
    const found = await scrapeOnce(
      portOf(all.output),
      (now) =>
        now.value("moneta_backlog", { state: "processing" }) === 0 &&
        steps.every((status) => now.value("moneta_requests_total", { type: "mint", status }) === 1),
    );
    expect(found.value("moneta_event_loop_delay_seconds", { quantile: "0.5" })).to.be.a("number");

    const other = moneta.spawn({ ROLES: "webhooks", METRICS_PORT: "0" });
    await other.printed(/"msg":"serving"/);
    const same = await scrapeOnce(portOf(other.output), ({ names }) => names.has("moneta_backlog"));
    for (const name of ["moneta_backlog", "moneta_lane_oldest_unmined_seconds", "moneta_quarantined_contracts"])
      expect(same.samples.filter((sample) => sample.name === name)).to.deep.equal(
        found.samples.filter((sample) => sample.name === name),
      );
    expect(same.value("moneta_requests_total")).to.equal(undefined);
    for (const process of [other, all]) expect(await process.end("SIGTERM")).to.equal(0);
  });

  it("refuses a port that is in use, and says which setting to change", async () => {
    const taken = await listenOnLoopback(createServer());
    const process = moneta.spawn({ METRICS_PORT: taken.port.toString() });
    expect(await process.gone()).to.equal(1);
    expect(process.output).to.match(/\/metrics cannot listen: .*EADDRINUSE.* METRICS_PORT/);
    await taken.stop();
  });
});
