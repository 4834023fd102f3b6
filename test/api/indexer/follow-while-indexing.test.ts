import { expect } from "chai";

import { followForeignContract } from "../../../api/store/ledger/foreign.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

describe("a foreign contract that an app follows while the indexer reads its blocks", function () {
  this.timeout(60_000);
  const moneta = useService({ proxy: true });

  const checkpoint = async () => Number(await readMeta(moneta.service.database.read, "checkpoint"));

  it("has its logs of those blocks indexed too", async () => {
    const { api } = moneta;
    const wallet = await api.wallet();
    const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy();
    const contract = await plain.getAddress();
    const head = await eventually(async () => {
      const number = await moneta.provider.getBlockNumber();
      return (await checkpoint()) === number ? number : undefined;
    });
    let named = false;
    moneta.intercept = async ({ method }) => {
      if (method !== "eth_getLogs" || named) return undefined;
      named = true;
      const followed = { address: contract, type: "ERC721", name: null, followedFrom: head } as const;
      await moneta.service.database.write((trx) => followForeignContract(trx, followed));
      return undefined;
    };
    await (await plain.mint(wallet, 1)).wait();
    await eventually(async () => ((await checkpoint()) > head ? true : undefined));
    expect(named).to.equal(true);
    const held = await moneta.service.database.read
      .selectFrom("holdings")
      .select(["owner", "quantity"])
      .where("contract", "=", contract)
      .execute();
    expect(held).to.deep.equal([{ owner: wallet, quantity: "1" }]);
  });
});
