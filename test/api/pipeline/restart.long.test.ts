import { expect } from "chai";

import { freePort } from "../../../scripts/scene/loopback.ts";
import { startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { useService } from "../../support/use-service.ts";

describe("npm run api", () => {
  // Processes, as an operator starts and stops them.
  const moneta = useService({ start: false });
  const { api } = moneta;

  describe("when stopped and started against the same node", () => {
    it("keeps every wallet, request and listing", async () => {
      const first = await moneta.startProcess();
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

      const second = await moneta.startProcess();
      expect(await read()).to.deep.equal(before);
      await api.completed("/v1/nfts", { collection_address: collection, to_address: from });
      expect(await second.end("SIGINT")).to.equal(0);
    });
  });

  describe("given a database of another chain", () => {
    it("refuses to start and says what to do", async () => {
      const latest = (await moneta.provider.send("eth_getBlockByNumber", ["latest", false])) as object;
      const other = await startRpcProxy(moneta.node.url);
      other.intercept = ({ method, params }) =>
        method === "eth_getBlockByNumber" && params[0] === "0x0" ? { result: { ...latest, number: "0x0" } } : undefined;
      try {
        const refused = moneta.spawn({ RPC_URL: other.url });
        expect(await refused.gone()).to.equal(1);
        expect(refused.output).to.match(/The database \S+ belongs to another chain/);
        expect(refused.output).to.match(/Set RPC_URL .* or use a new database/);
      } finally {
        await other.stop();
      }
    });
  });

  describe("given another seed than the database's", () => {
    it("refuses to start", async () => {
      const refused = moneta.spawn({ SEED_FILE: `${moneta.folder}/other-seed.jwe` });
      expect(await refused.gone()).to.equal(1);
      expect(refused.output).to.match(/SEED_FILE holds another seed/);
    });
  });

  describe("given wrong settings", () => {
    it("names every problem at once", async () => {
      const refused = moneta.spawn({ PORT: "many", LANES: "0", DATABASE_URL: "mysql://x" });
      expect(await refused.gone()).to.equal(1);
      for (const variable of ["PORT", "LANES", "DATABASE_URL"]) expect(refused.output).to.contain(`- ${variable}`);
    });
  });

  describe("given a node that does not answer", () => {
    it("says so", async () => {
      const refused = moneta.spawn({ RPC_URL: `http://127.0.0.1:${(await freePort()).toString()}` });
      expect(await refused.gone()).to.equal(1);
      expect(refused.output).to.match(/The chain node at RPC_URL does not answer/);
    });
  });
});
