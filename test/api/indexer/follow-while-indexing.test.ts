import { expect } from "chai";

import { unfollowContract } from "../../../api/store/ledger/indexed-contracts.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";
import { follow } from "../support/follow.ts";

describe("a foreign contract that an app follows while the indexer reads its blocks", () => {
  const moneta = useService();

  const plainContract = async () => {
    const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy();
    const address = await plain.getAddress();
    return { plain, address, head: await moneta.caughtUp() };
  };
  const held = (contract: string) =>
    moneta.service.database.read
      .selectFrom("holdings")
      .select(["owner", "quantity"])
      .where("contract", "=", contract)
      .execute();

  it("has its logs of those blocks indexed too", async () => {
    const { api } = moneta;
    const wallet = await api.wallet();
    const { plain, address, head } = await plainContract();
    let named = false;
    moneta.intercept = async ({ method }) => {
      if (method !== "eth_getLogs" || named) return undefined;
      named = true;
      await follow(moneta.service.database, { app: moneta.app.appId, address });
      return undefined;
    };
    await (await plain.mint(wallet, 1)).wait();
    await eventually(async () => ((await moneta.checkpoint()) > head ? true : undefined));
    expect(named).to.equal(true);
    expect(await held(address)).to.deep.equal([{ owner: wallet, quantity: "1" }]);
    const { total } = await api.ok("GET", `/v1/accounts/${wallet}/history`);
    expect(total).to.equal(1);
  });

  it("does not hold up the blocks when an app begins and ends to follow all the time", async () => {
    const { api } = moneta;
    const wallet = await api.wallet();
    const { plain, address, head } = await plainContract();
    const { database } = moneta.service;
    let toggles = 0;
    moneta.intercept = async ({ method }) => {
      if (method !== "eth_getLogs") return undefined;
      toggles += 1;
      if (toggles % 2 === 1) await follow(database, { app: moneta.app.appId, address });
      else await database.write((trx) => unfollowContract(trx, moneta.app.appId, address));
      return undefined;
    };
    await (await plain.mint(wallet, 1)).wait();
    await eventually(async () => ((await moneta.checkpoint()) > head ? true : undefined));
    moneta.intercept = null;
    expect(toggles).to.be.greaterThan(1);
    // Whatever the toggling left, naming the contract once more makes the list complete.
    const page = await eventually(async () => {
      const found = await api.ok("GET", `/v1/accounts/${wallet}/${address}`);
      return found["as_of_block"] === null ? undefined : found;
    });
    expect(page["total"]).to.equal(1);
  });
});
