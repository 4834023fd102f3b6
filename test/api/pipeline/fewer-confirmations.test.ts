import { expect } from "chai";

import { createApp } from "../../../api/operator/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

describe("CONFIRMATIONS, lowered between two starts", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
  });
  after(async () => {
    await service.stop();
    await node.stop();
    await folder.remove();
  });

  const start = async (confirmations: string) => {
    const env = { CONFIRMATIONS: confirmations };
    service = await startTestService({ rpcUrl: node.url, dataDir: folder.path, env });
  };

  it("makes final what is deep enough now, on a chain that makes no block without transactions", async () => {
    await start("20");
    const { token } = await createApp(service, "confirmations");
    let api = new ApiClient(service.baseUrl, token);
    const id = await api.accept("/v1/collections", { type: "ERC721", name: "Test", symbol: "TST" });
    await eventually(async () => {
      const seen = await api.ok<{ block_number: number | null }>("GET", `/v1/requests/${id}`);
      return seen.block_number ?? undefined;
    });
    await service.stop();
    await start("1");
    api = new ApiClient(service.baseUrl, token);
    expect((await api.settled(id)).status).to.equal("completed");
  });
});
