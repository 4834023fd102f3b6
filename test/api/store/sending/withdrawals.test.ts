import { expect } from "chai";

import { openWithdrawals, recordWithdrawal } from "../../../../api/store/apps/withdrawals.ts";
import { insertWallets } from "../../../../api/store/apps/wallets.ts";
import { AT_ONCE } from "../../../../api/store/db/due.ts";
import { claimRequests } from "../../../../api/store/sending/claims.ts";
import { ensureLane, type Lease } from "../../../../api/store/sending/lanes.ts";
import { describeOn } from "../../../support/engine.ts";
import { overlap, valueOf } from "../../../support/overlap.ts";
import { useTestDatabase } from "../../../support/use-database.ts";
import { leaseOf } from "../../support/blocks.ts";
import { addApp, addRequest, creation, randomAddress } from "../../support/rows.ts";

describe("recordWithdrawal", () => {
  const database = useTestDatabase();
  let lease: Lease;
  let wallet: string;
  let request: string;
  beforeEach(async () => {
    await database.write((trx) => ensureLane(trx, 0, randomAddress(), 0));
    lease = await leaseOf(database);
    wallet = randomAddress();
    const appId = await addApp(database, "app");
    await database.write((trx) =>
      insertWallets(trx, [{ address: wallet, appId, userIdentifier: null, path: "1/2/3" }], 1),
    );
    request = (await addRequest(database, creation(), { app: appId })).id;
    const ready = { ready_at: AT_ONCE, from_address: wallet };
    await database.write((trx) => trx.updateTable("requests").set(ready).where("id", "=", request).execute());
  });

  const claim = (trx: Parameters<typeof claimRequests>[0]) =>
    claimRequests(trx, lease, { limit: 10, now: 10, nextNumber: () => 7n });
  const record = () =>
    database.write((trx) =>
      recordWithdrawal(trx, { wallet, to: "to", value: 1n, nonce: 0, hash: "0x1", raw: "0x" }, null, 1),
    );
  const open = () => openWithdrawals(database.read, [wallet]);

  it("stores one open withdrawal of a wallet, and names the other one", async () => {
    expect(await record()).to.have.property("id");
    expect(await record()).to.deep.equal({ busy: "another withdrawal" });
    expect(await open()).to.have.length(1);
  });

  it("refuses while a lane has claimed a request of the wallet", async () => {
    await database.write(claim);
    expect(await record()).to.deep.equal({ busy: request });
    expect(await open()).to.deep.equal([]);
  });

  describeOn("postgres", "at the same time as a claim", () => {
    it("waits for the claim, and refuses", async () => {
      const { first, second, waited } = await overlap(database, claim, record);
      expect(valueOf(first).claimed).to.have.length(1);
      expect(waited).to.equal(true);
      expect(valueOf(second)).to.deep.equal({ busy: request });
    });

    it("keeps a claim from the wallet's requests until it is stored", async () => {
      const recorded = overlap(
        database,
        (trx) => recordWithdrawal(trx, { wallet, to: "to", value: 1n, nonce: 0, hash: "0x1", raw: "0x" }, null, 1),
        () => database.write(claim),
      );
      const { first, second } = await recorded;
      expect(valueOf(first)).to.have.property("id");
      expect(valueOf(second).claimed).to.deep.equal([]);
    });
  });
});
