import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import type { Shape } from "../../../client/client.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";
import { adoptAllowed, holdersOf, readBack, wrongTotals } from "../support/adopt.ts";
import { jsonOfCli } from "./support/run.ts";

describe("reconcile with adopted contracts", () => {
  // Tests damage rows, and compare the whole database.
  const moneta = useService({ node: "deployed", proxy: true });
  const { api } = moneta;
  let owner: JsonRpcSigner;
  let [mine, theirs] = ["", ""];
  let [erc721, erc1155] = ["", ""];

  const run = (...words: string[]) => jsonOfCli<Reconciliation>(moneta.env, "reconcile", ...words);
  const write = (work: (trx: Trx) => Promise<unknown>) => moneta.service.database.write(work);
  const state = async () => ({
    holders: [...(await holdersOf(moneta, erc721)), ...(await holdersOf(moneta, erc1155))],
    unlisted: (
      await moneta.service.database.read.selectFrom("holdings").select("owner").where("unlisted", "=", 1).execute()
    ).length,
    listed: (await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${mine}`)).nfts
      .map(({ contract_address: contract, token_id: id }) => `${contract} ${id.toString()}`)
      .sort(),
    wrong: await wrongTotals(moneta),
  });

  before(async () => {
    owner = await moneta.provider.getSigner(3);
    const other = await moneta.createApp("other");
    [mine, theirs] = [await api.wallet(), await other.wallet()];
    const tokens = await new WizardERC721__factory(owner).deploy(owner.address, 4);
    const copies = await new WizardERC1155__factory(owner).deploy(owner.address);
    [erc721, erc1155] = [await tokens.getAddress(), await copies.getAddress()];
    await (await tokens.transferFrom(owner.address, mine, 0)).wait();
    await (await tokens.transferFrom(owner.address, theirs, 1)).wait();
    for (const to of [owner.address, mine, theirs]) await (await copies.mintBatch(to, [1, 2], [10, 20])).wait();
    await (await copies.safeTransferFrom(owner.address, mine, 1, 10, "0x")).wait();
    for (const address of [erc721, erc1155]) {
      await adoptAllowed(moneta, address);
      await readBack(moneta, address);
    }
    await (await tokens.transferFrom(owner.address, mine, 3)).wait();
    await moneta.caughtUp();
  });

  it("finds no difference, also with tokens that other apps do not list", async () => {
    const right = await state();
    expect(right.unlisted).to.be.greaterThan(0);
    expect((await run("--dry-run")).comparison.told).to.deep.equal([]);
    expect((await run()).comparison.told).to.deep.equal([]);
  });

  const damages: Record<string, (trx: Trx) => Promise<unknown>> = {
    "a token with another holder": (trx) =>
      trx
        .updateTable("holdings")
        .set({ owner: theirs, unlisted: 1 })
        .where("contract", "=", erc721)
        .where("owner", "=", mine)
        .where("token_id", "=", "0")
        .execute(),
    "no holders": (trx) => trx.deleteFrom("holdings").where("contract", "in", [erc721, erc1155]).execute(),
    "another quantity": (trx) =>
      trx.updateTable("holdings").set({ quantity: "3" }).where("contract", "=", erc1155).execute(),
    "a holder too many": (trx) =>
      trx
        .insertInto("holdings")
        .values({ contract: erc1155, token_id: "9", owner: mine, quantity: "1", reserved: "0", since_block: 1 })
        .execute(),
  };
  for (const [what, damage] of Object.entries(damages)) {
    it(`given ${what}: reports and repairs it, and other apps still do not list what is theirs`, async () => {
      const right = await state();
      await write(damage);
      const seen = await run("--dry-run");
      expect(seen.comparison.differences).to.be.greaterThan(0);
      const mended = await run();
      expect(mended.comparison.told).to.deep.include.members(seen.comparison.told);
      expect(await state()).to.deep.equal(right);
      expect((await run()).comparison.told).to.deep.equal([]);
    });
  }

  it("puts no balance back that was removed by an adoption meanwhile", async () => {
    const contract = await new WizardERC1155__factory(owner).deploy(owner.address);
    const address = await contract.getAddress();
    await (await contract.mintBatch(mine, [1], [7])).wait();
    await readContract(api, mine, address, await moneta.provider.getBlockNumber());
    await api.ok("GET", `/v1/accounts/${mine}/${address}/1`);
    await write((trx) => trx.updateTable("holdings").set({ quantity: "3" }).where("contract", "=", address).execute());
    const ended = Promise.withResolvers<undefined>();
    let adopts = false;
    moneta.intercept = async ({ method, params }) => {
      // The past is read when the command has ended.
      if (adopts && method === "eth_getLogs") return ended.promise;
      const [{ to = "", data = "" } = {}] = params as [{ to?: string; data?: string }?];
      if (adopts || method !== "eth_call" || to.toLowerCase() !== address.toLowerCase()) return undefined;
      if (!data.startsWith(contract.interface.getFunction("balanceOf").selector)) return undefined;
      adopts = true;
      await adoptAllowed(moneta, address);
      return undefined;
    };
    const { comparison } = await run();
    ended.resolve(undefined);
    expect(adopts).to.equal(true);
    expect(comparison.told).to.deep.equal([]);
    await readBack(moneta, address);
    expect(await holdersOf(moneta, address)).to.deep.equal([`1 ${mine} 7`]);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
  });

  it("finds no difference while one is read, and in quarantine", async () => {
    // Nobody reads it further now, and its holdings are those of an earlier block.
    const due_at = Date.now() + 600_000;
    await write((trx) => trx.deleteFrom("holdings").where("contract", "=", erc721).execute());
    for (const name of ["reading", "quarantined"] as const) {
      const unread = { state: name, as_of: 1, due_at };
      await write((trx) => trx.updateTable("foreign_contracts").set(unread).where("address", "=", erc721).execute());
      const { told } = (await run("--dry-run")).comparison;
      expect(
        told.filter(({ what }) => !what.startsWith("the total")),
        name,
      ).to.deep.equal([]);
    }
  });
});
