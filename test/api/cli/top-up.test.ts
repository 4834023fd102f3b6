import { expect } from "chai";
import { parseEther } from "ethers";

import { useService } from "../../support/use-service.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

interface Lane {
  lane: number;
  address: string;
  balance_wei: string;
  spent_24h_wei: string;
  days_left: number | null;
  low_funds: boolean;
}

describe("top-up", () => {
  // Two lanes, and all that they spent.
  const moneta = useService({ settings: { LANES: "2" } });
  const { api } = moneta;
  const lanes = () => jsonOfCli<Lane[]>(moneta.env, "top-up");
  it("prints each lane with its balance, what it spent, and for how long the balance lasts", async () => {
    const [first, second] = await lanes();
    expect([first?.days_left, second?.days_left]).to.deep.equal([null, null]);
    await api.completed("/v1/nfts", {
      collection_address: await api.collection({ type: "ERC721" }),
      to_address: await api.wallet(),
    });
    // The receipts' fees, to the wei.
    const { total } = await jsonOfCli<{ total: { fee_wei: string } }>(moneta.env, "usage");
    const before = await lanes();
    expect(before.reduce((sum, { spent_24h_wei: spent }) => sum + BigInt(spent), 0n)).to.equal(BigInt(total.fee_wei));
    await moneta.fund(first?.address ?? "", parseEther("3"));
    await moneta.fund(second?.address ?? "", parseEther("0.001"));
    const found = await lanes();
    expect(found.map(({ lane }) => lane)).to.deep.equal([0, 1]);
    expect(found.map(({ balance_wei: wei }) => wei)).to.deep.equal([
      parseEther("3").toString(),
      parseEther("0.001").toString(),
    ]);
    expect(found[1]?.low_funds).to.equal(true);
    const spending = found.filter(({ spent_24h_wei: spent }) => spent !== "0");
    expect(spending).not.to.deep.equal([]);
    for (const { balance_wei: balance, spent_24h_wei: spent, days_left: left } of spending)
      expect(left).to.be.closeTo(Number(balance) / Number(spent), 0.1);
    const { output } = await runCli(moneta.env, "top-up");
    for (const { address } of found) expect(output).to.include(address);
    expect(output).to.match(/low_funds/);
  });

  it("does not count transactions of earlier days", async () => {
    const { database } = moneta.service;
    await database.write((trx) =>
      trx
        .updateTable("batches")
        .set({ created_at: Date.now() - 25 * 3_600_000 })
        .execute(),
    );
    for (const { spent_24h_wei: spent, days_left: left } of await lanes()) {
      expect(spent).to.equal("0");
      expect(left).to.equal(null);
    }
  });
});
