import { expect } from "chai";
import type { CID } from "multiformats/cid";

import { importContent } from "../../../api/content/content.ts";
import { MediaCollector } from "../../../api/operate/media/collector.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import { chooseMediaStore } from "../../../api/store/media/media-store.ts";
import { takeNamedLease } from "../../../api/store/db/work-lease.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";
import { withMethods } from "../../support/with-methods.ts";
import { streamOf } from "../support/content.ts";
import { startApi, type TestApi } from "../support/api.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("MediaCollector", () => {
  let api: TestApi;
  let now: number;
  const running: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    api = await startApi({ store: "database" });
    // Blocks that are stored in the test are older than a week then.
    now = Date.now() + 8 * DAY;
  });
  afterEach(async () => {
    for (const stop of running.splice(0)) await stop();
    await api.close();
  });

  function start(blocks = api.blocks) {
    const { logger, lines } = logLines("debug");
    const counted: [number, number][] = [];
    let reads = 0;
    const database = {
      ...api.database,
      get read() {
        reads += 1;
        return api.database.read;
      },
    };
    const collector = new MediaCollector({
      database,
      blocks,
      metrics: { collected: (removed, bytes) => counted.push([removed, bytes]) },
      logger,
      now: () => now,
      leaseTimes: leaseTimes(15),
      every: DAY,
      poll: 5,
    });
    const abort = new AbortController();
    const ended = collector.run(abort.signal);
    const stop = async () => {
      abort.abort();
      await ended;
    };
    running.push(stop);
    /** Waits until it has looked a few more times for work. */
    const looked = async () => {
      const before = reads;
      await eventually(() => Promise.resolve(reads > before + 3 || undefined));
    };
    return { lines, counted, stop, looked };
  }

  async function add(text: string): Promise<CID> {
    const { cid } = await importContent(api.blocks, streamOf(Buffer.from(text)));
    await api.stored.age();
    return cid;
  }
  const isGone = (cid: CID) => eventually(async () => ((await api.blocks.has(cid)) ? undefined : true));

  it("deletes what nothing uses, logs and counts it, and does so again after the interval, not before", async () => {
    const cid = await add("cat");
    const first = start();
    await isGone(cid);
    await eventually(() => Promise.resolve(first.counted.length > 0 || undefined));
    expect(first.counted).to.deep.equal([[1, 3]]);
    const line = first.lines.find(({ msg }) => msg === "unused media were collected");
    expect(line).to.include({ removed: 1, removedBytes: 3 });
    const next = await add("dog");
    await first.looked();
    // Another process, or one that was started again, knows when it was done last.
    const second = start();
    await second.looked();
    expect(await api.blocks.has(next)).to.equal(true);
    expect([...first.counted, ...second.counted]).to.have.length(1);
    now += DAY;
    await isGone(next);
    const counted = () => [...first.counted, ...second.counted];
    await eventually(() => Promise.resolve(counted().length > 1 || undefined));
    expect(counted(), JSON.stringify([...first.lines, ...second.lines])).to.deep.equal([
      [1, 3],
      [1, 3],
    ]);
  });

  it("leaves it to the process that has the lease, and to one with the store of the content", async () => {
    const cid = await add("cat");
    await api.database.write(async (trx) => {
      await takeNamedLease(trx, "media_collector", "other/1/1", { now, lasts: 15_000 }, () => false);
    });
    const waiting = start();
    await waiting.looked();
    expect(await api.blocks.has(cid)).to.equal(true);
    await waiting.stop();
    await api.database.write(async (trx) => {
      await trx.deleteFrom("media_leases").execute();
      await chooseMediaStore(trx, "s3://elsewhere");
    });
    const elsewhere = start();
    await elsewhere.looked();
    expect(await api.blocks.has(cid)).to.equal(true);
    await api.database.write((trx) => chooseMediaStore(trx, api.blocks.name));
    await isGone(cid);
    expect(waiting.counted).to.deep.equal([]);
  });

  it("stops before anything is removed when the process stops, and restores what it had set aside", async () => {
    const cid = await add("cat");
    const begun = Promise.withResolvers<null>();
    const goOn = Promise.withResolvers<null>();
    const blocks = withMethods(api.blocks, {
      async *all() {
        begun.resolve(null);
        await goOn.promise;
        yield* api.blocks.all();
      },
    });
    const { stop, counted, lines } = start(blocks);
    await begun.promise;
    const stopped = stop();
    goOn.resolve(null);
    await stopped;
    expect(await api.blocks.has(cid)).to.equal(true);
    expect(counted).to.deep.equal([]);
    expect(lines).to.deep.equal([]);
    const lease = await api.database.read.selectFrom("media_leases").selectAll().executeTakeFirstOrThrow();
    expect(lease).to.include({ name: "media_collector", holder: null, done_at: null });
  });
});
