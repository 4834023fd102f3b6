import { copyFile, rm } from "node:fs/promises";

import { expect } from "chai";

import { createApp } from "../../../api/operator/create-app.ts";
import { StartupError } from "../../../api/context/chain-identity.ts";
import type { Service } from "../../../api/context/service.ts";
import { openBatches } from "../../../api/store/sending/batches.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

describe("an old backup whose lost time still waits in the node's pool", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let stopped = true;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
  });
  after(async () => {
    if (!stopped) await service.stop();
    await node.stop();
    await folder.remove();
  });

  async function start(env: Record<string, string> = {}): Promise<void> {
    service = await startTestService({ rpcUrl: node.url, dataDir: folder.path, env });
    stopped = false;
  }
  async function stop(): Promise<void> {
    await service.stop();
    stopped = true;
  }
  const file = () => `${folder.path}/moneta.sqlite`;

  it("is not started with, for what it holds could be done a second time", async () => {
    await start();
    const { token } = await createApp(service, "pool");
    let api = new ApiClient(service.baseUrl, token);
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await stop();
    await start({ ROLES: "api" });
    api = new ApiClient(service.baseUrl, token);
    await api.accept("/v1/nfts", { collection_address: collection, to_address: to });
    await stop();
    // The last connection that closes leaves all in the one file.
    await (await openDatabase(`file:${file()}`)).close();
    await copyFile(file(), `${folder.path}/backup`);

    await node.provider.send("evm_setAutomine", [false]);
    await start();
    await eventually(async () => (await openBatches(service.database.read))[0]?.attempts[0]?.sentAt ?? undefined);
    await stop();
    for (const suffix of ["", "-wal", "-shm"]) await rm(file() + suffix, { force: true });
    await copyFile(`${folder.path}/backup`, file());

    const error: unknown = await start().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StartupError);
    expect((error as Error).message).to.match(/wait in the node's pool/);
  });
});
