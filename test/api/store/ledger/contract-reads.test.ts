import { expect } from "chai";

import { returnRead, leaseReads } from "../../../../api/store/ledger/contract-reads.ts";
import { leaseContracts, recordInspection } from "../../../../api/store/ledger/contract-states.ts";
import { useTestDatabase } from "../../../support/use-database.ts";
import { addApp, randomAddress } from "../../support/rows.ts";

const APP = "app-1";
const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("work on foreign contracts", () => {
  const database = useTestDatabase();
  const addContract = async (state: "checking" | "followed") => {
    const row = { address: randomAddress(), type: "ERC721" as const, state, due_at: state === "checking" ? 0 : null };
    const unused = { name: null, reason: null, as_of: null, failures: 0, quarantines: 0, released_at: null };
    const counted = { window_from: 0, window_logs: 0, created_at: NOW };
    await database.write((trx) =>
      trx
        .insertInto("foreign_contracts")
        .values({ ...row, ...unused, ...counted })
        .execute(),
    );
    return row.address;
  };
  const addReads = async (count: number) => {
    const contract = await addContract("followed");
    const reads = Array.from({ length: count }, () => ({ contract, owner: randomAddress(), app_id: APP }));
    const due = { search: 0 as const, complete_to: null, due_at: 0, tries: 0, fence: 0 };
    await database.write((trx) =>
      trx
        .insertInto("contract_reads")
        .values(reads.map((read) => ({ ...read, ...due })))
        .execute(),
    );
  };
  const reads = (now: number) => database.write((trx) => leaseReads(trx, now, 1_000));
  const contracts = (now: number) => database.write((trx) => leaseContracts(trx, now));
  const dueTimes = async () =>
    (await database.read.selectFrom("contract_reads").select("due_at").execute()).map(({ due_at: at }) => at ?? 0);

  beforeEach(() => addApp(database, APP));

  it("that kills its process is due later each time, and what was under way beside it at another time", async () => {
    await addReads(2);
    let now = NOW;
    const waits: number[] = [];
    for (let kills = 0; kills < 12; kills++, now += HOUR) {
      expect(await reads(now), kills.toString()).to.have.length(2);
      const times = await dueTimes();
      expect(new Set(times).size, "a time of its own for each").to.equal(2);
      waits.push(Math.min(...times) - now);
    }
    expect(waits[0]).to.be.within(31_000, 62_000);
    expect(waits[11]).to.be.within(10.5 * MINUTE, 21 * MINUTE);
    expect(waits[8]).to.be.above(2 * waits[0]!);
  });

  it("counts no try when it is given back at a stop, and one when it fails", async () => {
    await addReads(1);
    const [first] = await reads(NOW);
    expect(await reads(NOW + 30_000), "its lease").to.deep.equal([]);
    await database.write((trx) => returnRead(trx, first!, 0, false));
    const [second] = await reads(NOW + 1);
    expect(second).to.include({ tries: 0, fence: first!.fence + 1 });
    await database.write((trx) => returnRead(trx, first!, 0, true));
    expect(await reads(NOW + 2), "another process has taken it").to.deep.equal([]);
    await database.write((trx) => returnRead(trx, second!, 0, true));
    expect((await reads(NOW + 3))[0]).to.include({ tries: 1 });
  });

  it("asks a contract for its type again, later after each process that died", async () => {
    const address = await addContract("checking");
    for (const failures of [0, 1, 2]) {
      const [taken] = await contracts(NOW + failures * HOUR);
      expect(taken).to.include({ address, failures });
      expect(await contracts(NOW + failures * HOUR + 30_000)).to.deep.equal([]);
    }
    const [taken] = await contracts(NOW + 3 * HOUR);
    await database.write((trx) => recordInspection(trx, taken!, undefined, NOW + 3 * HOUR));
    expect((await contracts(NOW + 3 * HOUR + 1_000))[0]).to.include({ address, failures: 3 });
  });
});
