import { expect } from "chai";

import { TEST_ENGINE } from "../../support/engine.ts";
import { useService } from "../../support/use-service.ts";

const WITHOUT_IPFS_PACKAGES = ["--import", "./test/support/without-ipfs-packages.mjs"];
const PRINT_CONNECTIONS = ["--import", "./test/support/print-connections.mjs"];

describe("a default installation, without the IPFS packages", () => {
  // Processes: other tests import the packages in this one, and leave connections behind.
  const moneta = useService({ start: false });

  it("connects only to the chain's node and the database, and imports no such package, with hosted media and a freeze", async () => {
    const process = await moneta.startProcess({}, [...WITHOUT_IPFS_PACKAGES, ...PRINT_CONNECTIONS]);
    const { api } = moneta;
    const collection = await api.collection({ type: "ERC721" });
    await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image: "data:,GIF89a",
      copy_media: true,
    });
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    expect(await process.end("SIGTERM")).to.equal(0);
    expect(process.output).to.not.contain("imported the package");
    const targets = new Set([...process.output.matchAll(/^connects to (.*)\.$/gm)].map(([, target]) => target));
    const expected = [moneta.node.url, ...(TEST_ENGINE === "postgres" ? [moneta.databaseUrl] : [])];
    expect([...targets]).to.have.members(expected.map((url) => new URL(url).host));
  });

  it("says what to install when IPFS_LISTEN is set", async () => {
    const settings = { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" };
    const process = moneta.spawn(settings, WITHOUT_IPFS_PACKAGES);
    expect(await process.gone()).to.equal(1);
    expect(process.output).to.contain("imported the package");
    expect(process.output).to.contain("install the packages again as docs/install.md says, or unset IPFS_LISTEN");
  });
});
