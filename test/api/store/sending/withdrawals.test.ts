import { expect } from "chai";

import {
  endWithdrawal,
  openWithdrawals,
  recordWithdrawal,
  type Withdrawal,
} from "../../../../api/store/apps/withdrawals.ts";
import { insertWallets } from "../../../../api/store/apps/wallets.ts";
import { AT_ONCE } from "../../../../api/store/db/due.ts";
import { claimRequests, returnAbandonedClaims } from "../../../../api/store/sending/claims.ts";
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
  const version = (hash: string): Withdrawal => ({ wallet, to: "to", value: 1n, nonce: 0, hash, raw: "0x" });
  const record = (hash = "0x1", before?: string) =>
    database.write((trx) => recordWithdrawal(trx, version(hash), before, 1));
  const open = async () => (await openWithdrawals(database.read, [wallet])).get(wallet);
  const statuses = async () => {
    const rows = await database.read.selectFrom("withdrawals").select(["hash", "status"]).orderBy("id").execute();
    return rows.map(({ hash, status }) => [hash, status]);
  };

  it("stores one open withdrawal of a wallet, and names the other one", async () => {
    expect(await record()).to.equal(null);
    expect(await record()).to.equal("Another withdrawal");
    expect(await record("0x2", "0x0")).to.equal("Another withdrawal");
    expect(await open()).to.deep.equal([version("0x1")]);
  });

  it("keeps all versions of it, and each may be the one that the chain takes", async () => {
    await record();
    expect(await record("0x2", "0x1")).to.equal(null);
    expect(await record("0x3", "0x2")).to.equal(null);
    const versions = await open();
    expect(versions).to.deep.equal([version("0x3"), version("0x2"), version("0x1")]);
    if (versions === undefined) return;
    await database.write((trx) => endWithdrawal(trx, versions, { status: "sent", mined: "0x2" }));
    expect(await statuses()).to.deep.equal([
      ["0x1", "replaced"],
      ["0x2", "sent"],
      ["0x3", "replaced"],
    ]);
    expect(await open()).to.equal(undefined);
  });

  it("refuses while a lane has claimed a request of the wallet, and not after it has returned it", async () => {
    await database.write(claim);
    expect(await record()).to.equal(`Request ${request}`);
    expect(await open()).to.equal(undefined);
    await database.write((trx) => returnAbandonedClaims(trx, lease, 20));
    expect(await record()).to.equal(null);
  });

  describeOn("postgres", "at the same time as a claim", () => {
    it("waits for the claim, and refuses", async () => {
      const { first, second, waited } = await overlap(database, claim, record);
      expect(valueOf(first).claimed).to.have.length(1);
      expect(waited).to.equal(true);
      expect(valueOf(second)).to.equal(`Request ${request}`);
    });

    it("lets no lane claim until it is stored: the lane then sees it", async () => {
      const { first, second, waited } = await overlap(
        database,
        (trx) => recordWithdrawal(trx, version("0x1"), undefined, 1),
        async () => {
          await database.write(claim);
          return open();
        },
      );
      expect(valueOf(first)).to.equal(null);
      expect(waited).to.equal(true);
      expect(valueOf(second)).to.deep.equal([version("0x1")]);
    });
  });
});
