import { expect } from "chai";

import { BlockFiles } from "../../../../api/content/block-files.ts";
import { BlockStoreUnavailable } from "../../../../api/content/block-store.ts";
import { createOutboundAgent } from "../../../../api/outbound/agent.ts";
import { Signal } from "../../../../api/shared/signal.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { insertMediaJobs } from "../../../../api/store/media/media-jobs.ts";
import { poison } from "../../../../scripts/scene/poison.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { parkedIds } from "../../../support/poison.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { addApp, addRequest, APP, randomAddress } from "../../support/rows.ts";
import { mediaWorker } from "./support/media-worker.ts";

/** As many jobs as an app may have at the same time. */
const JOBS = 10;

/** Blocks on a disk that answers when the test says so. */
class SlowBlocks extends BlockFiles {
  readonly waiting: ((error: Error) => void)[] = [];

  override put(): Promise<void> {
    return new Promise((_, reject) => this.waiting.push(reject));
  }

  fail(): void {
    for (const reject of this.waiting.splice(0)) reject(new BlockStoreUnavailable("the disk is full"));
  }
}

/** @returns the ids of their requests. */
async function addJobs(database: Database, count: number): Promise<string[]> {
  const requests = await Promise.all(
    Array.from({ length: count }, (_, job) => {
      const metadata = { image: `data:,GIF89a${(job % JOBS).toString()}` };
      return addRequest(database, { kind: "mint-erc721", collection: randomAddress(), to: randomAddress(), metadata });
    }),
  );
  const ids = requests.map(({ id }) => id);
  await database.write(async (trx) => {
    // As a call that accepts a request with media leaves it.
    await trx.updateTable("requests").set({ ready_at: null }).execute();
    await insertMediaJobs(
      trx,
      ids.map((id) => ({ id, appId: APP })),
    );
  });
  return ids;
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
    await addJobs(database, JOBS);
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
    const worker = mediaWorker({ blocks, agent, database: { ...database, write }, media });
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

describe("MediaWorker with jobs that always fail", () => {
  const folder = useFolder();
  const GOOD = 100;

  it("copies the media of the others, parks these, and copies them once the cause is gone", async () => {
    const database = await openTestDatabase();
    const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
    const stop = new AbortController();
    const media = new Signal();
    await addApp(database);
    const [unreadable = "", refused = "", ...good] = await addJobs(database, GOOD + 2);
    const set = (command: string) =>
      database.write((trx) => trx.updateTable("requests").set({ command }).where("id", "=", unreadable).execute());
    const { command } = await database.read
      .selectFrom("requests")
      .select("command")
      .where("id", "=", unreadable)
      .executeTakeFirstOrThrow();
    await set("{");
    const when = `new.id = '${refused}' and new.ready_at is not null`;
    const cure = await poison(database, { table: "requests", event: "update", when });
    let clock = Date.now();
    const worker = mediaWorker({ blocks: new BlockFiles(folder.path), agent, database, media, now: () => clock });
    const running = worker.run(stop.signal);
    const ready = async () => {
      const rows = await database.read.selectFrom("requests").select("id").where("ready_at", "is not", null).execute();
      return rows.length;
    };
    try {
      await eventually(async () => ((await ready()) === good.length ? true : undefined));
      await eventually(async () => ((await parkedIds(database, "media_job")).length === 2 ? true : undefined));
      expect(worker.lastError).to.equal(null);
      const waiting = await database.read.selectFrom("media_jobs").select(["request_id", "tries", "due_at"]).execute();
      expect(waiting).to.deep.equal([{ request_id: unreadable, tries: 0, due_at: clock + 60_000 }]);
      // Its media were copied. Only the request cannot be changed.
      const results = await database.read.selectFrom("media_results").select("request_id").execute();
      expect(results).to.deep.equal([{ request_id: refused }]);
      await cure();
      await set(command);
      clock += 60_000;
      media.notify();
      await eventually(async () => ((await ready()) === good.length + 2 ? true : undefined));
      expect(await parkedIds(database, "media_job")).to.deep.equal([]);
    } finally {
      stop.abort();
      await running;
      await agent.destroy();
      await database.remove();
    }
  });
});
