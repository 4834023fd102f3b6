import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";
import { pino } from "pino";

import type { Examination } from "../../../api/checks/examine.ts";
import { createApp } from "../../../api/operate/apps.ts";
import { prune } from "../../../api/operate/prune.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import type { Database } from "../../../api/store/db/database.ts";
import type { Shape } from "../../../client/client.ts";
import { WizardERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC1155__factory.ts";
import { WizardERC721__factory } from "../../../types/ethers-contracts/factories/mocks/WizardERC721__factory.ts";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { describeWithBackups } from "../../support/pg-bin.ts";
import { startTestService } from "../../support/service.ts";
import { adoptAllowed, adoptUnread, foreignRow, holdersOf, readBack, readNow, wrongTotals } from "../support/adopt.ts";
import { useBackups } from "./support/backups.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

const YEARS = 1_000 * 86_400_000;

/** Deletes all rows that are old in some years. */
async function pruneAll(database: Database): Promise<void> {
  const retain = { days: 1, failedDays: 1 };
  const deps = { database, retain, logger: pino({ level: "silent" }), now: () => Date.now() + YEARS };
  await prune(deps, new AbortController().signal, () => undefined);
}

describeWithBackups("adopted contracts after a restore", () => {
  const backups = useBackups();
  const { moneta } = backups;
  let owner: JsonRpcSigner;
  before(async () => {
    owner = await moneta.provider.getSigner(3);
  });

  const read = { followed: "", reading: "", lost: "" };

  const listed = async (api: ApiClient, wallet: string) =>
    (await api.ok<Shape<"HeldNftsPage">>("GET", `/v1/accounts/${wallet}`)).nfts
      .map(({ contract_address: contract, token_id: id }) => `${contract} ${id.toString()}`)
      .filter((token) => token.startsWith(read.followed) || token.startsWith(read.reading))
      .sort();

  /** Adopts contracts, makes a backup, and does what it does not have. */
  const backUp = async () => {
    const { token } = await createApp(moneta.service, "other");
    const [mine, theirs] = [backups.wallet, await ApiClient.at(moneta.baseUrl, token).wallet()];
    const tokens = await new WizardERC721__factory(owner).deploy(owner.address, 4);
    const copies = await new WizardERC1155__factory(owner).deploy(owner.address);
    const later = await new WizardERC721__factory(owner).deploy(owner.address, 2);
    for (const [name, contract] of Object.entries({ followed: tokens, reading: copies, lost: later }))
      read[name as keyof typeof read] = await contract.getAddress();
    await (await tokens.transferFrom(owner.address, mine, 0)).wait();
    await (await tokens.transferFrom(owner.address, theirs, 1)).wait();
    for (const to of [mine, theirs]) await (await copies.mintBatch(to, [1, 2], [10, 20])).wait();
    await adoptAllowed(moneta, read.followed);
    await readBack(moneta, read.followed);
    await adoptUnread(moneta, read.reading, "ERC1155");
    const { folder } = await backups.backUp();
    // All of this is lost.
    await adoptAllowed(moneta, read.lost);
    await (await tokens.transferFrom(owner.address, mine, 2)).wait();
    await (await copies.mintBatch(mine, [3], [1])).wait();
    return { mine, theirs, token, folder };
  };

  it("go on from where the backup has them, those that were read only in part too, and can be adopted again", async () => {
    const { mine, theirs, token, folder } = await backUp();
    const place = await backups.place();
    await runCli(place.env, "restore", folder);
    const env = { ...place.env, ROLES: "api,indexer" };
    const service = await startTestService({ rpcUrl: moneta.node.url, dataDir: place.dataDir, env });
    const restored = { service };
    try {
      const api = ApiClient.at(service.baseUrl, moneta.app.token);
      expect((await api.send("GET", `/v1/collections/${read.lost}`)).status).to.equal(404);
      await readNow(restored, read.reading);
      const reaches = (address: string) =>
        eventually(async () => ((await foreignRow(restored, address)).state === "followed" ? true : undefined));
      for (const address of [read.followed, read.reading]) await reaches(address);
      const holders = await eventually(async () => {
        const found = await holdersOf(restored, read.followed);
        return found.includes(`2 ${mine} 1`) ? found : undefined;
      });
      expect(holders).to.have.length(4);
      const amounts = [`1 ${mine} 10`, `1 ${theirs} 10`, `2 ${mine} 20`, `2 ${theirs} 20`, `3 ${mine} 1`];
      await eventually(async () => ((await holdersOf(restored, read.reading)).length === 5 ? true : undefined));
      expect(await holdersOf(restored, read.reading)).to.deep.equal(amounts.sort());
      const list = [
        ...["0", "2"].map((id) => `${read.followed} ${id}`),
        ...["1", "2", "3"].map((id) => `${read.reading} ${id}`),
      ];
      expect(await listed(api, mine)).to.deep.equal(list.sort());
      expect(await listed(ApiClient.at(service.baseUrl, token), theirs)).to.deep.equal([]);
      await runCli(place.env, "collection", "adopt", read.lost, "--app", moneta.app.appId, "--allow");
      expect((await foreignRow(restored, read.lost)).state).to.equal("followed");

      expect((await jsonOfCli<Reconciliation>(place.env, "reconcile")).comparison.told).to.deep.equal([]);
      const { findings } = await jsonOfCli<Examination>(place.env, "doctor", "--media");
      expect(findings.filter(({ result }) => result === "problem")).to.deep.equal([]);
      await pruneAll(service.database);
      expect(await holdersOf(restored, read.reading)).to.deep.equal(amounts.sort());
      const { collection } = await api.ok<Shape<"NftsPage">>("GET", `/v1/collections/${read.reading}`);
      expect(collection).to.deep.include({ minted: 3, copies: 61 });
      expect(await wrongTotals(restored)).to.deep.equal([]);
    } finally {
      await service.stop();
    }
  });
});
