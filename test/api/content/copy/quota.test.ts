import { expect } from "chai";

import { BlockFiles } from "../../../../api/content/block-files.ts";
import { collectMedia } from "../../../../api/operate/media/collect.ts";
import { createOutboundAgent } from "../../../../api/outbound/agent.ts";
import { readQuotaUse, setQuotas } from "../../../../api/store/apps/quotas.ts";
import { addToCounter, counterKeys } from "../../../../api/store/db/counters.ts";
import { insertMediaJobs } from "../../../../api/store/media/media-jobs.ts";
import { compareCounters } from "../../../../api/store/reconcile/compare.ts";
import { collect } from "../../../support/collect.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { addApp, addRequest, APP, randomAddress, requestRow } from "../../support/rows.ts";
import { mediaWorker } from "./support/media-worker.ts";

describe("quota of an app's media bytes, when media are copied", () => {
  const folder = useFolder();
  const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  let stop: AbortController;
  let database: TestDatabase;
  let blocks: BlockFiles;
  let running: Promise<void> | null = null;
  beforeEach(async () => {
    database = await openTestDatabase();
    blocks = new BlockFiles(folder.path);
    stop = new AbortController();
    running = null;
    await addApp(database);
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await database.remove();
  });
  after(() => agent.destroy());

  const limit = (bytes: number) => database.write((trx) => setQuotas(trx, APP, { media_bytes: bytes }));
  const blockCount = async () => (await collect(blocks.all())).length;
  const used = async () => (await readQuotaUse(database.read, APP)).media_bytes.used;

  /** Accepts mints with these texts as images, and waits until all are copied or failed. @returns their rows. */
  async function copy(...texts: string[]) {
    const ids: string[] = [];
    for (const text of texts) {
      const mint = { collection: randomAddress(), to: randomAddress(), metadata: { image: `data:,${text}` } };
      ids.push((await addRequest(database, { kind: "mint-erc721", ...mint })).id);
    }
    const jobs = ids.map((id) => ({ id, appId: APP }));
    await database.write(async (trx) => {
      // As a call that accepts a request with media leaves it.
      await trx.updateTable("requests").set({ ready_at: null }).where("id", "in", ids).execute();
      await insertMediaJobs(trx, jobs);
    });
    running ??= mediaWorker({ blocks, agent, database }).run(stop.signal);
    await eventually(async () => {
      // The result replaces the job in one transaction.
      const job = await database.read.selectFrom("media_jobs").select("seq").executeTakeFirst();
      const result = await database.read.selectFrom("media_results").select("seq").executeTakeFirst();
      return job === undefined && result === undefined ? true : undefined;
    });
    return Promise.all(ids.map((id) => requestRow(database, id)));
  }

  it("is never exceeded by files that are copied at the same time", async () => {
    await limit(35);
    const rows = await copy(...Array.from({ length: 8 }, (_, file) => `GIF89a-10${file.toString()}`));
    expect(await used()).to.equal(30);
    const failed = rows.filter(({ status }) => status === "failed");
    expect(failed).to.have.length(5);
    expect(rows.filter(({ ready_at }) => ready_at !== null)).to.have.length(3);
    for (const { error_code, errors } of failed) {
      expect(error_code).to.equal("quota_exceeded");
      expect(JSON.stringify(errors)).to.contain("quota `media_bytes`, which is 35");
    }
    const counted = await database.read.selectFrom("app_media").select("cid").execute();
    expect(counted).to.have.length(3);
  });

  it("counts a file once, and not any more when it is collected", async () => {
    await copy("GIF89a", "GIF89a", "GIF89a-2");
    expect(await used()).to.equal(14);
    await database.write((trx) => addToCounter(trx, counterKeys.mediaBytes(APP), 5));
    const differences = await database.write((trx) => compareCounters(trx, true));
    const ofBytes = differences.filter(({ what }) => what.includes("media-bytes"));
    expect(ofBytes).to.deep.equal([{ what: `the total media-bytes:${APP}`, stored: "19", chain: "14" }]);
    await database.write((trx) => trx.updateTable("requests").set({ status: "failed" }).execute());
    await database.write((trx) => trx.updateTable("pins").set({ created_at: 1 }).execute());
    await collectMedia({ database, blocks }, Infinity);
    await eventually(async () => ((await used()) === 0 ? true : undefined));
    expect(await database.read.selectFrom("app_media").select("cid").execute()).to.deep.equal([]);
  });

  it("stores nothing of a file that is larger than what is left", async () => {
    await limit(14);
    await copy("GIF89a7");
    const before = await blockCount();
    const [row] = await copy("GIF89a-8");
    expect(row).to.include({ status: "failed", error_code: "quota_exceeded" });
    expect(JSON.stringify(row?.errors)).to.contain('"image"');
    expect(await blockCount()).to.equal(before);
    const [small] = await copy("GIF89a-");
    expect(small?.status).to.equal("pending");
    expect(await used()).to.equal(14);
  });
});
