import { expect } from "chai";

import { freePort } from "../../../scripts/nodes/free-port.ts";
import { ApiClient } from "../../support/api-client.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { TestProcess } from "../../support/process.ts";
import { createAppIn, temporaryFolder } from "../../support/service.ts";

describe("a service without the packages of the IPFS node", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
  });
  after(async () => {
    await node.stop();
    await folder.remove();
  });

  const start = (port: number, env: Record<string, string>) =>
    new TestProcess(["--import", "./test/support/without-ipfs-packages.mjs", "--import", "tsx", "api/main.ts"], {
      PORT: port.toString(),
      RPC_URL: node.url,
      DATA_DIR: folder.path,
      ...env,
    });

  it("never asks for them while the node is off, media on IPFS and a freeze included", async () => {
    const port = await freePort();
    const process = start(port, {});
    await process.printed(/"msg":"serving"/);
    const { token } = await createAppIn(`file:${folder.path}/moneta.sqlite`, "quiet");
    const api = new ApiClient(`http://127.0.0.1:${port.toString()}`, token);
    const collection = await api.collection({ type: "ERC721" });
    await api.completed("/v1/nfts", {
      collection_address: collection,
      to_address: await api.wallet(),
      image: "data:,cat",
      copy_media: true,
    });
    await api.completed(`/v1/collections/${collection}/freeze`, {});
    expect(await process.end("SIGTERM")).to.equal(0);
    expect(process.output).to.not.contain("asked for the package");
  });

  it("says what to install when the node is wanted", async () => {
    const process = start(await freePort(), { IPFS_LISTEN: "/ip4/127.0.0.1/tcp/0", IPFS_BOOTSTRAP: "none" });
    expect(await process.gone()).to.equal(1);
    expect(process.output).to.contain("asked for the package");
    expect(process.output).to.contain("run `npm ci --include=optional`, or leave IPFS_LISTEN out");
  });
});
