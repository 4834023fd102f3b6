import { expect } from "chai";
import fc from "fast-check";

import { AT_ONCE, LONGEST_WAIT } from "../../../../api/store/db/due.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import { retryParked } from "../../../../api/store/db/under-way.ts";
import { replaceCommand } from "../../../../api/store/requests/repair.ts";
import {
  claimRequests,
  countReady,
  parkClaims,
  returnAbandonedClaims,
  returnUnsent,
} from "../../../../api/store/sending/claims.ts";
import { ensureLane, type Lease } from "../../../../api/store/sending/lanes.ts";
import { triesOnEngine } from "../../../support/engine.ts";
import { leaseOf } from "../../support/blocks.ts";
import { addApp, addRequest, creation, randomAddress } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const NOW = 10_000_000;
/** Later than any wait: stored by a clock that has been set back since. */
const FAR_AHEAD = NOW + LONGEST_WAIT + 1;

describe("claimRequests", () => {
  const database = useTestDatabase({ per: "block" });
  let lease: Lease;
  let numbers = 0n;
  let prefix = 0;
  before(async () => {
    await database.write((trx) => ensureLane(trx, 0, randomAddress(), 0));
    lease = await leaseOf(database);
  });
  beforeEach(() => emptyQueue());

  const emptyQueue = () =>
    database.write((trx) => trx.updateTable("requests").set({ ready_at: null, lane: null }).execute());

  const claim = async (limit: number) => {
    const options = { limit, now: NOW, nextNumber: () => numbers++ };
    return (await database.write((trx) => claimRequests(trx, lease, options))).claimed;
  };

  /** Adds an app with one request for each time, in this order. @returns its id, and its requests as they are due. */
  async function appWith(times: readonly number[]): Promise<{ app: string; due: string[] }> {
    const app = await addApp(database, `app-${(prefix++).toString()}`);
    const rows: { id: string; at: number; place: number }[] = [];
    for (const [place, at] of times.entries()) {
      const { id } = await addRequest(database, creation(), { app });
      await database.write((trx) => trx.updateTable("requests").set({ ready_at: at }).where("id", "=", id).execute());
      if (at <= NOW || at >= FAR_AHEAD) rows.push({ id, at, place });
    }
    rows.sort((a, b) => a.at - b.at || a.place - b.place);
    return { app, due: rows.map(({ id }) => id) };
  }

  describe("given any apps with any requests", () => {
    const time = fc.constantFrom(AT_ONCE, 1, 2, NOW, NOW + 1, NOW + LONGEST_WAIT, FAR_AHEAD, FAR_AHEAD + 1);
    const apps = fc.array(fc.array(time, { maxLength: 7 }), { maxLength: 5 });

    it("gives each app its share or all it has, fills the limit, and keeps the order inside an app", async () => {
      await fc.assert(
        fc.asyncProperty(apps, fc.integer({ min: 1, max: 20 }), async (queues, limit) => {
          await emptyQueue();
          const added = [];
          for (const times of queues) added.push(await appWith(times));
          const ready = added.filter(({ due }) => due.length > 0);
          const total = ready.reduce((sum, { due }) => sum + due.length, 0);
          expect(await countReady(database.read, NOW, limit)).to.equal(Math.min(limit, total));
          const claimed = await claim(limit);
          expect(claimed).to.have.length(Math.min(limit, total));
          for (const { app, due } of ready) {
            const own = claimed.filter((request) => request.app_id === app).map(({ id }) => id);
            expect(own, "the oldest, in their order").to.deep.equal(due.slice(0, own.length));
            expect(own.length).to.be.at.least(Math.min(due.length, Math.floor(limit / ready.length)));
          }
        }),
        { numRuns: triesOnEngine(60) },
      );
    });
  });

  describe("given more apps than the limit", () => {
    it("takes those that have waited longest", async () => {
      const due: (string | undefined)[] = [];
      for (const at of [5, 3, 4, 1, 2]) due[at] = (await appWith([at, at])).due[0];
      expect((await claim(3)).map(({ id }) => id)).to.deep.equal([due[1], due[2], due[3]]);
    });
  });

  describe("given a parked request", () => {
    for (const [who, again] of [
      ["the operator tries it again", (trx: Trx, id: string) => retryParked(trx, "request", id).then(() => undefined)],
      ["the operator repairs its command", (trx: Trx, id: string) => replaceCommand(trx, id, creation())],
    ] as const) {
      it(`takes it at once when ${who}`, async () => {
        await appWith([1]);
        const [request] = await claim(1);
        const id = request?.id ?? "";
        await database.write((trx) => parkClaims(trx, lease, [{ id, error: "it failed" }], NOW));
        expect(await claim(1)).to.deep.equal([]);
        await database.write((trx) => again(trx, id));
        expect((await claim(1)).map((claimed) => claimed.id)).to.deep.equal([id]);
      });
    }
  });

  describe("given a process that was paused and replaced", () => {
    it("does not return what the next holder of the lane has claimed", async () => {
      await appWith([1, 2]);
      const paused = lease;
      const claimed = await claim(2);
      lease = await leaseOf(database, "next", 3);
      expect(await database.write((trx) => returnAbandonedClaims(trx, lease, AT_ONCE))).to.equal(2);
      expect((await claim(2)).map(({ id }) => id)).to.have.members(claimed.map(({ id }) => id));
      const unsent = claimed.map((request) => ({ kind: "ready" as const, request, retryIn: 0, waitingFor: null }));
      const late = await database.write((trx) => returnUnsent(trx, paused, unsent, NOW)).catch(String);
      expect(late).to.match(/^LeaseLost/);
      expect(await countReady(database.read, NOW, 10)).to.equal(0);
    });
  });
});
