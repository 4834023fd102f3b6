import { setTimeout as delay } from "node:timers/promises";

import { expect } from "chai";

import type { Service } from "../../../api/context/service.ts";
import { Announcer } from "../../../api/media/announcer.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { startTestService } from "../../support/service.ts";
import { temporaryFolder } from "../../support/folder.ts";

/** Each worker needs one of these at every step. */
const TABLES = ["meta", "batches", "deliveries", "media_jobs", "pins", "announcements"] as const;

/** What each worker logs when it fails, and when it works again. */
const MESSAGES = [
  ["the lane cannot send; it retries", "the lane can send again"],
  ["the indexer cannot follow the chain; it retries", "the indexer follows the chain again"],
  [
    "the gas costs of the chain cannot be measured; the last figures stay in use",
    "the gas costs of the chain are measured again",
  ],
  ["followed contracts cannot be read; retrying", "followed contracts can be read again"],
  ["webhook deliveries cannot be read or recorded; retrying", "webhook deliveries can be read and recorded again"],
  ["media jobs cannot be read, stored or recorded; retrying", "media jobs can be read, stored and recorded again"],
  ["content cannot be pinned or unpinned at the IPFS node; retrying", "the IPFS node pins and unpins content again"],
  ["IPFS announcements cannot be read or recorded; retrying", "IPFS announcements can be read and recorded again"],
] as const;

describe("a database that fails", () => {
  const log = logLines();
  const stop = new AbortController();
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let place: DatabasePlace;
  let service: Service & { baseUrl: string };
  let announcing: Promise<void>;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    place = await createTestDatabase({ folder: folder.path });
    service = await startTestService({
      rpcUrl: node.url,
      dataDir: folder.path,
      // Nothing listens there, and nothing is ever pinned.
      env: { DATABASE_URL: place.url, IPFS_PIN_RPC: "http://127.0.0.1:9" },
      logger: log.logger,
    });
    announcing = new Announcer({
      database: service.database,
      announce: () => Promise.resolve(1),
      wake: new Signal(),
      logger: log.logger,
      now: () => Date.now(),
      lease: leaseTimes(15),
    }).run(stop.signal);
  });
  after(async () => {
    stop.abort();
    await announcing;
    await service.stop();
    await node.stop();
    await place.remove();
    await folder.remove();
  });

  const rename = (from: string, to: string) =>
    service.database.write(async (trx) => {
      for (const table of TABLES) await trx.schema.alterTable(`${table}${from}`).renameTo(`${table}${to}`).execute();
    });
  const count = (message: string) => log.lines.filter(({ msg }) => msg === message).length;
  const ready = async () => (await fetch(`${service.baseUrl}/readyz`)).status;

  it("is logged by each worker once when it begins, and once when it is over", async () => {
    await eventually(async () => ((await ready()) === 200 ? true : undefined));
    await rename("", "_gone");
    for (const [failed] of MESSAGES) await eventually(() => Promise.resolve(count(failed) > 0 ? true : undefined));
    // Long enough for several more tries of each worker.
    await delay(5_000);
    for (const [failed] of MESSAGES) {
      const errors = log.lines.filter(({ msg }) => msg === failed).map(({ err }) => err?.message);
      // A step in progress may fail at another missing table than the next steps. That counts as a changed error.
      expect(errors.length, failed).to.be.at.most(2);
      expect(new Set(errors).size, failed).to.equal(errors.length);
    }
    const others = log.lines.filter(({ level, msg }) => level > 30 && !MESSAGES.some(([failed]) => failed === msg));
    expect(others).to.deep.equal([]);
    expect(await ready()).to.equal(503);

    await rename("_gone", "");
    for (const [, recovered] of MESSAGES) {
      await eventually(() => Promise.resolve(count(recovered) > 0 ? true : undefined));
    }
    for (const [, recovered] of MESSAGES) expect(count(recovered), recovered).to.equal(1);
    await eventually(async () => ((await ready()) === 200 ? true : undefined));
  });
});
