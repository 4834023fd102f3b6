import { expect } from "chai";

import { wantSearch } from "../../../api/store/ledger/contract-reads.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { describeOn } from "../../support/engine.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";
import { IndexedCopy } from "../support/indexed-copy.ts";

const CONFIRMATIONS = 1;

describeOn("sqlite", "balances in a contract of others that blocks change while the indexer catches up", () => {
  // The service is stopped, and a copy of its database goes on.
  const moneta = useService({ node: "deployed" });
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => folder.remove());

  it("are read with the newest block, or in the background once it is stored; searches do not wait", async () => {
    const { api } = moneta;
    const [wallet, other] = [await api.wallet(), await api.wallet()];
    const plain = await new PlainERC721__factory(await moneta.provider.getSigner(3)).deploy();
    const contract = await plain.getAddress();
    await readContract(api, wallet, contract);
    const chain = { url: moneta.node.url, contracts: moneta.service.contracts };
    await moneta.stop();
    await (await plain.mint(other, 9)).wait();
    for (const token of [1, 2, 3]) await (await plain.mint(wallet, token)).wait();

    let slices = 0;
    const manner = {
      slice: () => 1,
      blocks: 10_000,
      late: false,
      restarts: () => false,
      crashes: () => ++slices === 2,
    };
    const copy = await IndexedCopy.create(moneta.databaseUrl, folder.path, { name: "late", ...manner }, chain);
    try {
      const { read } = copy.database;
      const tokens = async (table: "holdings" | "uncertain_holdings", owner = wallet) =>
        (await read.selectFrom(table).select("token_id").where("owner", "=", owner).orderBy("token_id").execute()).map(
          (row) => row.token_id,
        );
      // The process ends after two slices: those of the tokens 9 and 1.
      await copy.step(CONFIRMATIONS);
      expect(slices).to.equal(2);
      await copy.database.write((trx) => wantSearch(trx, { contract, owner: other, appId: moneta.app.appId }, 0));
      await copy.readForeign();
      expect(await tokens("uncertain_holdings")).to.deep.equal(["1"]);
      expect(await tokens("holdings")).to.deep.equal([]);
      expect(await tokens("holdings", other)).to.deep.equal(["9"]);

      while (await copy.step(CONFIRMATIONS));
      expect(await tokens("uncertain_holdings")).to.deep.equal(["1", "2"]);
      expect(await tokens("holdings")).to.deep.equal(["3"]);
      await copy.readForeign();
      expect(await tokens("uncertain_holdings")).to.deep.equal([]);
      expect(await tokens("holdings")).to.deep.equal(["1", "2", "3"]);
    } finally {
      await copy.close();
    }
  });
});
