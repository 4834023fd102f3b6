import { join } from "node:path";

import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import type { Shape } from "../../../client/client.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";
import { adoptAllowed, adoptUnread, holdersOf, readBack, readNow, wrongTotals } from "../support/adopt.ts";

describe("adopted contracts in a database moved by `migrate-to`", () => {
  // The service stops, and starts on other databases.
  const moneta = useService({ start: false });
  const { api } = moneta;
  let owner: JsonRpcSigner;
  before(async () => {
    owner = await moneta.provider.getSigner(3);
  });

  const listed = async (wallet: string) => {
    const { total, nfts } = await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`);
    return { total, tokens: nfts.map((nft) => `${nft.contract_address} ${nft.token_id.toString()}`).sort() };
  };
  const unlisted = async () =>
    (await moneta.service.database.read.selectFrom("holdings").select("owner").where("unlisted", "=", 1).execute())
      .length;

  it("go on there, those that were read only in part too", async () => {
    const old = `file:${join(moneta.folder, "old.sqlite")}`;
    await moneta.start({ DATABASE_URL: old });
    const other = await moneta.createApp("other");
    const [mine, theirs] = [await api.wallet(), await other.wallet()];
    const tokens = await new WizardERC721__factory(owner).deploy(owner.address, 4);
    const copies = await new WizardERC1155__factory(owner).deploy(owner.address);
    const [followed, reading] = [await tokens.getAddress(), await copies.getAddress()];
    await (await tokens.transferFrom(owner.address, mine, 0)).wait();
    await (await tokens.transferFrom(owner.address, theirs, 1)).wait();
    for (const to of [mine, theirs]) await (await copies.mintBatch(to, [1, 2], [10, 20])).wait();
    await adoptAllowed(moneta, followed);
    await readBack(moneta, followed);
    await adoptUnread(moneta, reading, "ERC1155");
    const before = { mine: await listed(mine), holders: await holdersOf(moneta, followed), unlisted: await unlisted() };
    // A stranger has two of them.
    expect(before.unlisted).to.equal(3);
    await moneta.stop();

    await jsonOfCli({ ...moneta.env, DATABASE_URL: old }, "migrate-to", moneta.databaseUrl);
    await moneta.start();
    expect({
      mine: await listed(mine),
      holders: await holdersOf(moneta, followed),
      unlisted: await unlisted(),
    }).to.deep.equal(before);
    await readNow(moneta, reading);
    await readBack(moneta, reading);
    await (await tokens.transferFrom(owner.address, mine, 2)).wait();
    await moneta.caughtUp();
    expect((await listed(mine)).tokens).to.deep.equal(
      [...["0", "2"].map((id) => `${followed} ${id}`), ...["1", "2"].map((id) => `${reading} ${id}`)].sort(),
    );
    const { nfts } = await other.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${theirs}`);
    expect(nfts).to.deep.equal([]);
    expect(await wrongTotals(moneta)).to.deep.equal([]);
    expect((await jsonOfCli<Reconciliation>(moneta.env, "reconcile")).comparison.told).to.deep.equal([]);
  });
});
