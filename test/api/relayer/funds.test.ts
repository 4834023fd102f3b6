import { expect } from "chai";
import { parseEther } from "ethers";

import { readLane } from "../../../api/store/sending/lanes.ts";
import { eventually } from "../../support/eventually.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";

interface FundsLine extends LogLine {
  address?: string;
  funds?: string;
}

describe("funds of a lane", () => {
  const { logger, lines } = logLines("warn");
  // The test reads the log, and takes the lane's funds.
  const moneta = useService({ logger });
  const { api } = moneta;

  it("are reported once when they are low; without funds requests wait until the lane is funded", async () => {
    const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    const mint = () => api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
    const address = (await readLane(moneta.service.database.read, 0))?.address ?? "";
    const fund = (amount: string) =>
      moneta.provider.send("hardhat_setBalance", [address, `0x${parseEther(amount).toString(16)}`]);
    const low = () =>
      (lines as FundsLine[]).filter(({ msg }) => msg === "the lane is low on funds: send it the chain's own currency");

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
      const health = await moneta.service.health();
      return health.find(({ name }) => name === "lane 0")?.lastError ?? undefined;
    });
    expect(words).to.equal(`lane ${address} has no funds: send it the chain's own currency to pay for gas`);
    expect((await api.ok("GET", `/v1/requests/${waiting}`))["status"]).to.equal("pending");
    await fund("100");
    expect((await api.settled(waiting)).status).to.equal("completed");
  });
});
