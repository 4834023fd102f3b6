import { expect } from "chai";
import pino from "pino";

import { BlockFiles } from "../../../api/ipfs/block-files.ts";
import { BlockStoreUnavailable } from "../../../api/ipfs/block-store.ts";
import { MediaWorker } from "../../../api/media/worker.ts";
import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import { NO_METRICS } from "../../../api/shared/metrics.ts";
import { Signal } from "../../../api/shared/signal.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { insertMediaJobs } from "../../../api/store/media/media-jobs.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { useFolder } from "../../support/use-folder.ts";
import { addApp, addRequest, APP, randomAddress } from "../support/rows.ts";

/** As many jobs as an app may have at the same time. */
const JOBS = 10;

/** Blocks on a disk that answers when the test says so. */
class SlowBlocks extends BlockFiles {
  readonly waiting: ((error: Error) => void)[] = [];

  override adopt(): Promise<void> {
    return new Promise((_, reject) => this.waiting.push(reject));
  }

  fail(): void {
    for (const reject of this.waiting.splice(0)) reject(new BlockStoreUnavailable("the disk is full"));
  }
}

describe("MediaWorker", () => {
  const folder = useFolder();
  const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  const stop = new AbortController();
  let database: TestDatabase;
  let blocks: SlowBlocks;
  let running: Promise<void>;

  beforeEach(async () => {
    database = await openTestDatabase();
    blocks = new SlowBlocks(folder.path);
    await addApp(database);
    const ids: string[] = [];
    for (let job = 0; job < JOBS; job++) {
      const metadata = { image: `data:,${job.toString()}` };
      const mint = { kind: "mint-erc721", collection: randomAddress(), to: randomAddress(), metadata } as const;
      ids.push((await addRequest(database, mint)).id);
    }
    await database.write((trx) =>
      insertMediaJobs(
        trx,
        ids.map((id) => ({ id, appId: APP })),
      ),
    );
  });
  afterEach(async () => {
    stop.abort();
    const failing = setInterval(() => {
      blocks.fail();
    }, 10);
    await running;
    clearInterval(failing);
    await database.remove();
    await agent.destroy();
  });

  it("tries one job at a time when the disk fails while it looks for more", async () => {
    const media = new Signal();
    const held = Promise.withResolvers<null>();
    const looking = Promise.withResolvers<null>();
    let hold = false;
    // Holds the next write: the look for more jobs.
    const write: Database["write"] = async (operation) => {
      if (hold) {
        hold = false;
        looking.resolve(null);
        await held.promise;
      }
      return database.write(operation);
    };
    const worker = new MediaWorker({
      ...{ blocks, agent, gateway: null, maxBytes: 1_000, deadline: 60_000 },
      database: { ...database, write },
      signals: { requests: new Signal(), deliveries: new Signal(), media, hosted: new Signal() },
      logger: pino({ level: "silent" }),
      metrics: NO_METRICS,
      now: Date.now,
      lease: leaseTimes(60),
    });
    running = worker.run(stop.signal);
    await eventually(() => Promise.resolve(blocks.waiting.length === JOBS ? true : undefined));

    hold = true;
    media.notify();
    await looking.promise;
    blocks.fail();
    await eventually(async () => {
      const { free } = await database.read
        .selectFrom("media_jobs")
        .select(({ fn }) => fn.count<number>("request_id").as("free"))
        .where("holder", "is", null)
        .executeTakeFirstOrThrow();
      return free === JOBS ? true : undefined;
    });
    held.resolve(null);

    for (let tries = 0; tries < 2; tries++) {
      await eventually(() => Promise.resolve(blocks.waiting.length > 0 ? true : undefined));
      expect(blocks.waiting).to.have.length(1);
      expect(worker.lastError).to.equal("the disk is full");
      blocks.fail();
    }
  });
});
