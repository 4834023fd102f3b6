import { expect } from "chai";

import { TEST_ENGINE } from "../../support/engine.ts";
import { useService } from "../../support/use-service.ts";

describe("outbound connections of the service", () => {
  // A process of its own: other tests leave connections behind in this one.
  const moneta = useService({ start: false });

  it("go only to the chain's node and to the database by default, with hosted media and a freeze", async () => {
    const process = await moneta.startProcess({}, ["--import", "./test/support/print-connections.mjs"]);
    const { api } = moneta;
    const collection = await api.collection({ type: "ERC721" });
    await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image: "data:,cat",
      copy_media: true,
    });
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    expect(await process.end("SIGTERM")).to.equal(0);
    const targets = new Set([...process.output.matchAll(/^connects to (.*)\.$/gm)].map(([, target]) => target));
    const expected = [moneta.node.url, ...(TEST_ENGINE === "postgres" ? [moneta.databaseUrl] : [])];
    expect([...targets]).to.have.members(expected.map((url) => new URL(url).host));
  });
});
