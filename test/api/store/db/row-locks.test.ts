import { expect } from "chai";
import { sql } from "kysely";

import { forKeyShare, forShare, forUpdate, forUpdateSkipLocked, type Trx } from "../../../../api/store/db/sql.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import { describeOn } from "../../../support/engine.ts";
import { overlap, valueOf } from "../../../support/overlap.ts";
import { useTwoProcesses } from "../../../support/two-processes.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const LOCKS = {
  "for update": forUpdate,
  "for share": forShare,
  "for key share": forKeyShare,
  "skip locked": (trx: Trx) => forUpdateSkipLocked(trx, "meta"),
};
type Lock = keyof typeof LOCKS;

describeOn("sqlite", "row locks on SQLite", () => {
  const database = useTestDatabase({ per: "block" });

  for (const [name, lock] of Object.entries(LOCKS)) {
    it(`leave out "${name}"`, async () => {
      const text = await database.write((trx) => Promise.resolve(sql`select 1 ${lock(trx)}`.compile(trx).sql));
      expect(text.trim()).to.equal("select 1");
    });
  }
});

describeOn("postgres", "row locks of two processes", () => {
  const two = useTwoProcesses((one) =>
    one.write(async (trx) => {
      await writeMeta(trx, "checkpoint", "1");
      await writeMeta(trx, "confirmed_block", "1");
    }),
  );
  const lockRows = async (trx: Trx, lock: Lock, ...keys: string[]) => {
    const search = trx.selectFrom("meta").select("key").where("key", "in", keys).orderBy("key");
    return (await search.modifyEnd(LOCKS[lock](trx)).execute()).map(({ key }) => key);
  };

  const meetings: [Lock, Lock, "waits" | "goes on"][] = [
    ["for update", "for update", "waits"],
    ["for share", "for update", "waits"],
    ["for share", "for share", "goes on"],
    ["for key share", "for update", "waits"],
    ["for key share", "for share", "goes on"],
  ];
  for (const [held, asked, then] of meetings) {
    it(`"${asked}" ${then} while the other holds "${held}"`, async () => {
      const { second, waited } = await overlap(
        two.one,
        (trx) => lockRows(trx, held, "checkpoint"),
        () => two.other.write((trx) => lockRows(trx, asked, "checkpoint")),
      );
      expect(valueOf(second)).to.deep.equal(["checkpoint"]);
      expect(waited).to.equal(then === "waits");
    });
  }

  it(`"skip locked" passes over the rows that the other has locked`, async () => {
    const { second, waited } = await overlap(
      two.one,
      (trx) => lockRows(trx, "for update", "checkpoint"),
      () => two.other.write((trx) => lockRows(trx, "skip locked", "checkpoint", "confirmed_block")),
    );
    expect(valueOf(second)).to.deep.equal(["confirmed_block"]);
    expect(waited).to.equal(false);
  });
});
