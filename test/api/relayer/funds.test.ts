import { Writable } from "node:stream";

import { expect } from "chai";
import { parseEther } from "ethers";
import { pino } from "pino";

import { createApp } from "../../../api/operator/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { readLane } from "../../../api/store/sending/lanes.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startTestService } from "../../support/service.ts";

interface Line {
  msg: string;
  address?: string;
  funds?: string;
}

describe("funds of a lane", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  const lines: Line[] = [];

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(JSON.parse(chunk.toString()) as Line);
        done();
      },
    });
    service = await startTestService({ rpcUrl: node.url, dataDir: folder.path, logger: pino({ level: "warn" }, sink) });
    api = ApiClient.at(service.baseUrl, (await createApp(service, "funds")).token);
  });
  after(async () => {
    await service.stop();
    await node.stop();
    await folder.remove();
  });

  it("are reported once when they are low; without funds requests wait until the lane is funded", async () => {
    const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    const mint = () => api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
    const address = (await readLane(service.database.read, 0))?.address ?? "";
    const fund = (amount: string) =>
      node.provider.send("hardhat_setBalance", [address, `0x${parseEther(amount).toString(16)}`]);
    const low = () => lines.filter(({ msg }) => msg === "the lane is low on funds: send it the chain's own currency");

    await api.settled(await mint());
    expect(low()).to.deep.equal([]);
    // Enough for a few batches more.
    await fund("0.002");
    for (let count = 0; count < 2; count++) expect((await api.settled(await mint())).status).to.equal("completed");
    expect(low()).to.have.length(1);
    expect(low()[0]?.address).to.equal(address);
    expect(Number(low()[0]?.funds)).to.be.within(0.001, 0.002);

    await fund("0");
    const waiting = await mint();
    const words = await eventually(async () => {
      const answer = await fetch(`${service.baseUrl}/readyz`);
      const { errors = [] } = (await answer.json()) as { errors?: { field: string; message: string }[] };
      return errors.find(({ field }) => field === "lane 0")?.message;
    });
    expect(words).to.equal(`lane ${address} has no funds: send it the chain's own currency to pay for gas`);
    expect((await api.ok("GET", `/v1/requests/${waiting}`))["status"]).to.equal("pending");
    await fund("100");
    expect((await api.settled(waiting)).status).to.equal("completed");
  });
});
