import { expect } from "chai";

import { ApiClient } from "../../support/api-client.ts";
import { freePort } from "../../../scripts/nodes/free-port.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { TestProcess } from "../../support/process.ts";
import { createAppIn, temporaryFolder } from "../../support/service.ts";

describe("npm run api", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Record<string, string>;
  let baseUrl: string;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    const port = await freePort();
    env = { PORT: port.toString(), RPC_URL: node.url, DATA_DIR: folder.path };
    baseUrl = `http://127.0.0.1:${port.toString()}`;
  });
  after(async () => {
    await node.stop();
    await folder.remove();
  });

  const start = (more: Record<string, string> = {}) =>
    new TestProcess(["--import", "tsx", "api/main.ts"], { ...env, ...more });

  describe("when stopped and started against the same node", () => {
    it("keeps every wallet, request and listing", async () => {
      const first = start();
      await first.printed(/"msg":"serving"/);
      const { token } = await createAppIn(`file:${folder.path}/moneta.sqlite`, "restart");
      const api = new ApiClient(baseUrl, token);
      const [from, to] = [await api.wallet(), await api.wallet()];
      const collection = await api.collection({ type: "ERC721", mint_supply_count: 5 });
      await api.completed("/v1/nfts", {
        collection_address: collection,
        to_address: from,
        unlockable_content: "secret",
      });
      await api.completed("/v1/transfers", {
        from_address: from,
        to_address: to,
        contract_address: collection,
        token_id: 1,
      });
      const paths = [
        "/v1/accounts",
        `/v1/accounts/${from}`,
        `/v1/accounts/${to}`,
        `/v1/accounts/${to}/history`,
        "/v1/collections",
        `/v1/collections/${collection}`,
        `/v1/collections/${collection}/1`,
        `/v1/collections/${collection}/1/history`,
        "/v1/requests",
      ];
      const read = () => Promise.all(paths.map((path) => api.ok("GET", path)));
      const before = await read();
      expect(await first.end("SIGTERM")).to.equal(0);

      const second = start();
      await second.printed(/"msg":"serving"/);
      expect(await read()).to.deep.equal(before);
      await api.completed("/v1/nfts", { collection_address: collection, to_address: from });
      expect(await second.end("SIGINT")).to.equal(0);
    });
  });

  describe("given a database of another chain", () => {
    it("refuses to start and says what to do", async () => {
      const other = await startNode();
      try {
        const refused = start({ RPC_URL: other.url });
        expect(await refused.gone()).to.equal(1);
        expect(refused.output).to.match(/The database .*moneta\.sqlite belongs to another chain/);
        expect(refused.output).to.match(/Set RPC_URL .* or start with a new database/);
      } finally {
        await other.stop();
      }
    });
  });

  describe("given another seed than the database's", () => {
    it("refuses to start", async () => {
      const refused = start({ SEED_FILE: `${folder.path}/other-seed.jwe` });
      expect(await refused.gone()).to.equal(1);
      expect(refused.output).to.match(/SEED_FILE holds another seed/);
    });
  });

  describe("given wrong settings", () => {
    it("names every problem at once", async () => {
      const refused = start({ PORT: "many", LANES: "0", DATABASE_URL: "mysql://x" });
      expect(await refused.gone()).to.equal(1);
      for (const variable of ["PORT", "LANES", "DATABASE_URL"]) expect(refused.output).to.contain(`- ${variable}`);
    });
  });

  describe("given a node that does not answer", () => {
    it("says so", async () => {
      const refused = start({ RPC_URL: `http://127.0.0.1:${(await freePort()).toString()}` });
      expect(await refused.gone()).to.equal(1);
      expect(refused.output).to.match(/The chain node at RPC_URL does not answer/);
    });
  });
});
