import { expect } from "chai";

import { followForeignContract } from "../../../api/store/ledger/foreign.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import { eventually } from "../../support/eventually.ts";
import { ProxiedService } from "../../support/proxied-service.ts";

describe("a foreign contract that an app follows while the indexer reads its blocks", function () {
  this.timeout(60_000);
  let proxied: ProxiedService;

  before(async () => {
    proxied = await ProxiedService.start();
  });
  after(() => proxied.end());

  const checkpoint = async () => Number(await readMeta(proxied.service.database.read, "checkpoint"));

  it("is indexed from the block that the app was told", async () => {
    const { api } = proxied;
    const wallet = await api.wallet();
    const plain = await new PlainERC721__factory(await proxied.provider.getSigner(3)).deploy();
    const contract = await plain.getAddress();
    const head = await eventually(async () => {
      const number = await proxied.provider.getBlockNumber();
      return (await checkpoint()) === number ? number : undefined;
    });
    let named = false;
    proxied.intercept = async ({ method }) => {
      if (method !== "eth_getLogs" || named) return undefined;
      named = true;
      const followed = { address: contract, type: "ERC721", name: null, followedFrom: head } as const;
      await proxied.service.database.write((trx) => followForeignContract(trx, followed));
      return undefined;
    };
    await (await plain.mint(wallet, 1)).wait();
    await eventually(async () => ((await checkpoint()) > head ? true : undefined));
    expect(named).to.equal(true);
    const held = await proxied.service.database.read
      .selectFrom("holdings")
      .select(["owner", "quantity"])
      .where("contract", "=", contract)
      .execute();
    expect(held).to.deep.equal([{ owner: wallet, quantity: "1" }]);
  });
});
