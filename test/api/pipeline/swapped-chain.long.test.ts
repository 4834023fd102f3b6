import { expect } from "chai";

import { startNode, type TestNode } from "../../support/node.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

for (const ROLES of ["api,relayer,indexer,webhooks,media", "api"]) {
  describe(`a node that restarts with a new chain under a running service (${ROLES})`, () => {
    // The node is stopped, and another one takes its port.
    const moneta = useService({ node: "own" });
    const { api } = moneta;
    let replacement: TestNode;

    after(() => replacement.stop());

    it("stops the service: readyz says why, and nothing is accepted", async () => {
      const [wallet, collection] = [await api.wallet(), await api.collection({ type: "ERC721" })];
      await api.mint(collection, wallet);
      await moneta.restart({ ROLES });
      await eventually(async () => ((await moneta.readyz()).status === 200 ? true : undefined));
      const { port } = new URL(moneta.node.url);
      await moneta.node.stop();
      replacement = await startNode({}, Number(port));

      const words = await eventually(async () => {
        const { status, text } = await moneta.readyz();
        return status === 503 && text.includes("wrong_chain") ? text : undefined;
      });
      expect(words).to.include("The node serves another chain than the one that the database belongs to.");
      expect(words).not.to.match(/31337|127\.0\.0\.1/);
      const mint = { collection_address: collection, to_address: wallet };
      const refused = await api.send("POST", "/v1/nfts", mint);
      expect([refused.status, refused.body["error_code"]]).to.deep.equal([503, "unavailable"]);
      expect(refused.body["message"]).to.include("wrong chain");
      expect((await api.send("GET", `/v1/accounts/${wallet}`)).status).to.equal(200);
    });
  });
}
