import { expect } from "chai";

import {
  addPin,
  type DuePin,
  finishPin,
  finishUnpin,
  isHostedSince,
  removePin,
  returnPin,
  leasePins,
  waitingPins,
} from "../../../../api/store/media/pins.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const CID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
const LEASE = 15_000;

describe("pins", () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await database.write((trx) => addPin(trx, CID, 1_000));
  });

  const take = async (now: number): Promise<DuePin | undefined> =>
    (await database.write((trx) => leasePins(trx, { now, leaseUntil: now + LEASE, limit: 4 })))[0];
  const taken = async (now: number): Promise<DuePin> => {
    const pin = await take(now);
    if (pin === undefined) throw new Error("no pin is due");
    return pin;
  };
  const finish = (pin: DuePin) => database.write((trx) => (pin.hosted ? finishPin : finishUnpin)(trx, pin));
  const remove = () => database.write((trx) => removePin(trx, CID));
  const waiting = async () => (await waitingPins(database.read)).count;

  it("removes the pin of content that is not hosted any more, and then forgets it", async () => {
    await finish(await taken(1_000));
    await remove();
    expect(await database.write((trx) => isHostedSince(trx, CID, 0))).to.equal(false);
    const pin = await taken(2_000);
    expect(pin).to.include({ cid: CID, hosted: false });
    await finish(pin);
    expect(await take(9e9)).to.equal(undefined);
    expect(await waiting()).to.equal(0);
  });

  it("forgets a pin that no process has tried", async () => {
    await remove();
    expect(await waiting()).to.equal(0);
  });

  it("removes the pin after the process that sets it at the same time", async () => {
    const setting = await taken(1_000);
    await remove();
    expect(await take(2_000)).to.equal(undefined);
    await finish(setting);
    const pin = await taken(1_000 + LEASE);
    expect(pin.hosted).to.equal(false);
    await database.write((trx) => returnPin(trx, pin, 30_000, "no answer"));
    expect((await taken(30_000)).tries).to.equal(1);
  });

  it("pins content again that is hosted again while its pin is removed", async () => {
    await finish(await taken(1_000));
    await remove();
    const removing = await taken(2_000);
    await database.write((trx) => addPin(trx, CID, 3_000));
    expect(await database.write((trx) => isHostedSince(trx, CID, 3_000))).to.equal(true);
    // Not before the other process has finished.
    expect(await take(3_000)).to.equal(undefined);
    await finish(removing);
    const again = await taken(3_000);
    expect(again.hosted).to.equal(true);
    await finish(again);
    expect(await waiting()).to.equal(0);
  });

  it("pins content again when a process removed the pin after its lease had expired", async () => {
    await finish(await taken(1_000));
    await remove();
    const late = await taken(2_000);
    await database.write((trx) => addPin(trx, CID, 3_000));
    const setting = await taken(2_000 + LEASE);
    await finish(late);
    await finish(setting);
    expect((await taken(20_000)).hosted).to.equal(true);
  });
});
