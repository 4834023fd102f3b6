import { expect } from "chai";

import { useService } from "../../support/use-service.ts";

describe("a service without the IPFS packages", () => {
  // A process: other tests of this one import the packages.
  const moneta = useService({ start: false });

  const withoutPackages = ["--import", "./test/support/without-ipfs-packages.mjs"];

  it("never imports them while the IPFS node is off, with hosted media and a freeze", async () => {
    const process = await moneta.startProcess({}, withoutPackages);
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
    expect(process.output).to.not.contain("imported the package");
  });

  it("says what to install when IPFS_LISTEN is set", async () => {
    const process = moneta.spawn({ IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" }, withoutPackages);
    expect(await process.gone()).to.equal(1);
    expect(process.output).to.contain("imported the package");
    expect(process.output).to.contain("install the packages again as docs/install.md says, or unset IPFS_LISTEN");
  });
});
