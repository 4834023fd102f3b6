import { createServer } from "node:net";

import { expect } from "chai";

import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { useService } from "../../support/use-service.ts";

describe("a process of the service", () => {
  const moneta = useService({ start: false });
  const { api } = moneta;

  it("has all roles, of which one wakes the other, and says in readyz how its workers are", async () => {
    const process = await moneta.startProcess({ LANES: "2" }, ["--import", "./test/support/without-polls.mjs"]);
    const readiness = await fetch(`${moneta.baseUrl}/readyz`);
    const { checks } = (await readiness.json()) as { checks: Record<string, string> };
    expect(readiness.status).to.equal(200);
    expect(checks).to.include({ "lane 0": "ok", "lane 1": "ok", indexer: "ok", webhooks: "ok", media: "ok" });
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    // A worker that missed the signal of a request would not find it.
    for (let round = 0; round < 5; round++)
      await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
    expect(await process.end("SIGTERM")).to.equal(0);
    expect(await moneta.database.isOpen()).to.equal(false);
  });

  it("loads only what its roles use, and of the rest nothing before it is used", async () => {
    const loadedBy = async (roles: string) => {
      const process = moneta.spawn({ ROLES: roles, PORT: "0" }, ["--import", "./test/support/print-modules.mjs"]);
      await process.printed(/"msg":"serving"/);
      expect(await process.end("SIGTERM")).to.equal(0);
      return new Set(process.output.match(/(?<=^loads ).+/gm));
    };
    const [all, http] = [await loadedBy(""), await loadedBy("api")];
    const workers = await loadedBy("relayer,indexer,webhooks,media");
    const ofWorkers = ["api/relayer", "api/indexer", "api/webhooks", "api/content/copy"];
    expect(http).to.include.keys("api/v1", "api/commands", "express", "ethers");
    expect(workers).to.include.keys(...ofWorkers, "ethers");
    expect(all).to.include.keys(...http, ...workers);
    for (const name of ofWorkers) expect(http.has(name), name).to.equal(false);
    for (const name of ["api/v1", "api/commands", "express", "pino-http"])
      expect(workers.has(name), name).to.equal(false);
    const never = ["api/content/node", "libp2p", "zod-openapi", "prom-client", "@opentelemetry/api", "swagger-ui-dist"];
    for (const name of [...never, "ipfs-unixfs-importer", "ipfs-unixfs-exporter", "file-type", "saxes"])
      expect(all.has(name), name).to.equal(false);
  });

  it("does not listen when its workers cannot start, and ends with the reason", async () => {
    const other = await listenOnLoopback(createServer());
    const process = moneta.spawn({ PORT: "0", IPFS_LISTEN: `/ip4/127.0.0.1/tcp/${other.port.toString()}` });
    expect(await process.gone()).to.equal(1);
    expect(process.output).to.match(/IPFS/).and.not.contain("serving");
    await other.stop();
  });
});
