import { setTimeout as delay } from "node:timers/promises";

import { expect } from "chai";

import { Announcer } from "../../../api/content/copy/announcer.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";

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
  // Its tables are renamed. Nothing listens at the address for pins, and nothing is ever pinned.
  const moneta = useService({ logger: log.logger, settings: { IPFS_PIN_RPC: "http://127.0.0.1:9" } });
  let announcing: Promise<void>;

  before(() => {
    announcing = new Announcer({
      database: moneta.service.database,
      announce: () => Promise.resolve(1),
      wake: new Signal(),
      logger: log.logger,
      now: () => Date.now(),
      leaseTimes: leaseTimes(15),
    }).run(stop.signal);
  });
  afterEach(async () => {
    // Before the service closes the database.
    stop.abort();
    await announcing;
  });

  const rename = (from: string, to: string) =>
    moneta.service.database.write(async (trx) => {
      for (const table of TABLES) await trx.schema.alterTable(`${table}${from}`).renameTo(`${table}${to}`).execute();
    });
  const count = (message: string) => log.lines.filter(({ msg }) => msg === message).length;
  const ready = async () => (await moneta.readyz()).status;

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
