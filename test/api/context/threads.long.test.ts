import { createServer } from "node:net";

import { expect } from "chai";

import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { NodesScene } from "../../support/nodes-scene.ts";
import { useService } from "../../support/use-service.ts";

describe("a process with all roles", () => {
  // Only a process has two threads.
  const moneta = useService({ start: false });
  const { api } = moneta;

  const readiness = async () => {
    const response = await fetch(`${moneta.baseUrl}/readyz`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, checks };
  };

  it("serves HTTP in one thread and runs the workers in another", async () => {
    const process = await moneta.startProcess({ LANES: "2" }, ["--import", "./test/support/without-polls.mjs"]);
    const { status, checks } = await readiness();
    expect(status).to.equal(200);
    expect(checks).to.include({ "lane 0": "ok", "lane 1": "ok", indexer: "ok", webhooks: "ok", media: "ok" });
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    // A thread that missed the signal of a request would not find it.
    for (let round = 0; round < 5; round++)
      await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
    expect(await process.end("SIGTERM")).to.equal(0);
    expect(await moneta.database.isOpen()).to.equal(false);
  });

  it("loads into each thread only what it uses, and of the rest nothing before it is used", async () => {
    const process = await moneta.startProcess({}, ["--import", "./test/support/print-modules.mjs"]);
    expect((await readiness()).status).to.equal(200);
    expect(await process.end("SIGTERM")).to.equal(0);
    const loaded = (thread: string) => new Set(process.output.match(new RegExp(`(?<=^${thread} loads ).+`, "gm")));
    const [main, worker] = [loaded("main"), loaded("worker")];
    expect(main).to.include.keys("api/v1", "api/commands", "express", "ethers");
    expect(worker).to.include.keys("api/relayer", "api/indexer", "api/webhooks", "api/content/copy", "ethers");
    for (const name of ["api/relayer", "api/indexer", "api/webhooks", "api/content/copy"])
      expect(main.has(name), name).to.equal(false);
    for (const name of ["api/v1", "api/commands", "express", "pino-http"])
      expect(worker.has(name), name).to.equal(false);
    const never = ["api/content/node", "libp2p", "zod-openapi", "prom-client", "@opentelemetry/api", "swagger-ui-dist"];
    for (const name of [...never, "ipfs-unixfs-importer", "ipfs-unixfs-exporter", "file-type", "saxes"])
      expect(main.has(name) || worker.has(name), name).to.equal(false);
  });

  it("shows what the thread of the workers has found out about a node", async () => {
    const scene = new NodesScene(moneta);
    await scene.addNodes(3);
    const process = await moneta.startProcess(scene.settings);
    await scene.begin();
    expect(await scene.word()).to.equal("ok");
    scene.fail(3, { kind: "old-branch", from: await scene.head() });
    await scene.mints();
    await scene.says("node_down");
    expect(await process.end("SIGTERM")).to.equal(0);
    await scene.stop();
  });

  describe("given workers that cannot start", () => {
    it("ends with the reason, although HTTP could start", async () => {
      const other = await listenOnLoopback(createServer());
      const process = moneta.spawn({ PORT: "0", IPFS_LISTEN: `/ip4/127.0.0.1/tcp/${other.port.toString()}` });
      expect(await process.gone()).to.equal(1);
      expect(process.output).to.match(/IPFS/);
      await other.stop();
    });
  });
});
