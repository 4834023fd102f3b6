import { expect } from "chai";
import pino from "pino";

import { Announcer } from "../../../../api/content/copy/announcer.ts";
import { leaseTimes } from "../../../../api/shared/lease.ts";
import { Signal } from "../../../../api/shared/signal.ts";
import { addAnnouncement, forgetAnnouncement } from "../../../../api/store/media/announcements.ts";
import { poison } from "../../../../scripts/scene/poison.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";

const CAT = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e";
const DOG = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("Announcer", () => {
  let database: TestDatabase;
  let now: number;
  let peers: number | Error;
  let stop: AbortController;
  let running: Promise<void>;
  let lastError: () => string | null;
  const wake = new Signal();
  const announced: string[] = [];

  beforeEach(async () => {
    database = await openTestDatabase();
    announced.length = 0;
    now = 1_000_000;
    peers = 20;
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await database.remove();
  });

  const host = (...cids: string[]) =>
    database.write(async (trx) => {
      for (const cid of cids) await addAnnouncement(trx, cid);
    });
  const run = (announce?: (abort: AbortSignal) => Promise<number>) => {
    stop = new AbortController();
    const announcer = new Announcer({
      database,
      announce: (root, abort) => {
        announced.push(root.toString());
        if (announce !== undefined) return announce(abort);
        return peers instanceof Error ? Promise.reject(peers) : Promise.resolve(peers);
      },
      wake,
      logger: pino({ level: "silent" }),
      now: () => now,
      leaseTimes: leaseTimes(15),
    });
    lastError = () => announcer.lastError;
    running = announcer.run(stop.signal);
  };
  const times = (count: number) => eventually(() => Promise.resolve(announced.length >= count ? true : undefined));
  /** Due times, once as many are stored as there should be. */
  const dueAt = (expected: number) =>
    eventually(async () => {
      const rows = await database.read.selectFrom("announcements").select("due_at").execute();
      return rows.every(({ due_at: at }) => at === expected) ? true : undefined;
    });

  it("announces stored content, new content, and all of it again before peers forget it", async () => {
    await host(CAT);
    run();
    await dueAt(now + 22 * HOUR);
    await host(DOG, CAT);
    wake.notify();
    await dueAt(now + 22 * HOUR);
    expect(announced).to.deep.equal([CAT, DOG]);
    now += 22 * HOUR;
    wake.notify();
    await times(4);
    expect(announced.slice(2).sort()).to.deep.equal([CAT, DOG]);
  });

  for (const [trouble, result] of [
    ["no peer stored", 0],
    ["failed", new Error("no network")],
  ] as const) {
    it(`retries an announcement that ${trouble} after a minute`, async () => {
      peers = result;
      await host(CAT);
      run();
      await dueAt(now + MINUTE);
      peers = 1;
      now += MINUTE;
      wake.notify();
      await dueAt(now + 22 * HOUR);
      expect(announced).to.deep.equal([CAT, CAT]);
    });
  }

  it("leaves unfinished announcements to the next process when it stops", async () => {
    await host(CAT);
    run(
      (abort) =>
        new Promise((_resolve, reject) => {
          abort.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    );
    await times(1);
    stop.abort();
    await running;
    run();
    await times(2);
    await dueAt(now + 22 * HOUR);
  });

  it("forgets content that is no longer hosted, and works with a clock that was set back", async () => {
    await host(CAT, DOG);
    run();
    await dueAt(now + 22 * HOUR);
    await database.write((trx) => forgetAnnouncement(trx, DOG));
    now -= 1_000;
    wake.notify();
    await times(3);
    expect(announced.slice(2)).to.deep.equal([CAT]);
  });

  it("announces the others beside a row that is no CID, and stops at one that cannot be changed until it is mended", async () => {
    await host("not a CID", CAT, DOG);
    const cure = await poison(database, { table: "announcements", event: "update", when: `old.cid = '${DOG}'` });
    run();
    await eventually(() => Promise.resolve(lastError()?.includes(DOG) === true ? true : undefined));
    expect(lastError()).to.match(/^the database refuses a change of announcements .*bafk/);
    await cure();
    await eventually(() => Promise.resolve(announced.includes(DOG) && announced.includes(CAT) ? true : undefined));
    await eventually(() => Promise.resolve(lastError() === null ? true : undefined));
  });
});
