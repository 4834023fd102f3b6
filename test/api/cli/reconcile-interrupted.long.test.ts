import { join } from "node:path";

import { expect } from "chai";
import { sql } from "kysely";

import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { openDatabase } from "../../../api/store/db/database.ts";
import { openSqlite } from "../../../api/store/db/sqlite/sqlite.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { pause } from "../../../scripts/scene/program.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { TestProcess } from "../../support/process.ts";
import type { Interception } from "../../../scripts/scene/rpc-proxy.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useService } from "../../support/use-service.ts";
import { withDatabase } from "../../../scripts/scene/scene.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

/** Blocks that the provider allows in a query. */
const RANGE = 10;
/** Blocks of the chain: many ranges, most of them far below the head. */
const BLOCKS = 400;

describe("reconcile behind a provider with limits, interrupted", () => {
  // Each test interrupts the comparison of the whole database, which remembers how far it came.
  const moneta = useService({ proxy: true, per: "test" });
  const { api } = moneta;
  let wallet: string;
  let collection: string;
  /** A block of the service's first ones. */
  let start: number;

  beforeEach(async () => {
    wallet = await api.wallet();
    collection = await api.collection({ type: "ERC721" });
    await api.completed("/v1/nfts", { collection_address: collection, to_address: wallet });
    start = await moneta.provider.getBlockNumber();
    // Hardhat invents the blocks of a single large `hardhat_mine` later, and a parent's hash may not fit.
    await Promise.all(Array.from({ length: BLOCKS }, () => moneta.provider.send("evm_mine", [])));
    await eventually(async () => {
      const checkpoint = Number(await readMeta(moneta.service.database.read, "checkpoint"));
      return checkpoint >= start + BLOCKS ? true : undefined;
    });
    await moneta.service.database.write((trx) => trx.deleteFrom("holdings").where("owner", "=", wallet).execute());
  });

  /** The first blocks of the accepted log queries, in the order asked. */
  interface Asked {
    from: number[];
    refused: number;
  }

  /**
   * Refuses what the provider refuses. @param stopAt the query for a range from this block on, or later, is the last one: it is
   * never answered. @param skip so many such queries are answered first.
   */
  function limited(asked: Asked, stopAt = Infinity, onStop: () => void = () => undefined): Interception {
    let stopped = false;
    return async (call) => {
      if (stopped) await new Promise(() => undefined);
      const [filter] = call.params as [{ fromBlock?: string; toBlock?: string }];
      if (call.method !== "eth_getLogs" || filter.fromBlock === undefined) return undefined;
      const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
      if (to - from + 1 > RANGE) {
        asked.refused += 1;
        return {
          error: { code: -32_600, message: `You can make eth_getLogs requests with up to a ${RANGE} block range.` },
        };
      }
      asked.from.push(from);
      if (asked.from.length < stopAt) return undefined;
      stopped = true;
      onStop();
      return new Promise(() => undefined);
    };
  }

  const nothing = (): Asked => ({ from: [], refused: 0 });
  const run = (...words: string[]) => jsonOfCli<Reconciliation>(moneta.env, "reconcile", ...words);

  /** Runs the command in a process of its own until it has made so many log queries. The last one gets no answer. */
  async function stopped(queries: number): Promise<{ asked: Asked; child: TestProcess }> {
    const asked = nothing();
    const child = await new Promise<TestProcess>((resolve, reject) => {
      moneta.intercept = limited(asked, queries, () => {
        resolve(started);
      });
      const started = new TestProcess(["api/cli/main.ts", "reconcile"], moneta.env);
      running = started;
      void started.gone().then((code) => {
        reject(new Error(`reconcile ended with ${code.toString()} before it was stopped:\n${started.output}`));
      });
    });
    return { asked, child };
  }

  async function killed(queries: number): Promise<Asked> {
    const { asked, child } = await stopped(queries);
    await child.end("SIGKILL");
    return asked;
  }

  let running: TestProcess | null = null;
  afterEach(async () => {
    if (running?.exited === false) await running.end("SIGKILL");
    running = null;
  });

  it("given a kill -9 while it searches for unknown transactions, and one while it reads the chain: goes on where it was, and finds what differs in blocks that were read before", async () => {
    await moneta.service.stop();
    const first = await killed(12);
    const reached = first.from.at(-1) ?? 0;
    expect(reached).to.be.within(start + 40, start + BLOCKS - 64);
    // The search goes on; then the chain is read from the first block on.
    const second = await killed(Math.ceil(BLOCKS / 5));
    expect(second.from[0]).to.be.within(reached - RANGE, reached);
    const replayed = second.from.at(-1) ?? 0;
    expect(replayed).to.be.within(start + 50, start + BLOCKS - 64);
    const last = nothing();
    moneta.intercept = limited(last);
    const result = await run();
    expect(result.from_block).to.be.within(replayed - RANGE, replayed);
    expect(Math.min(...last.from)).to.be.within(replayed - RANGE, replayed);
    expect(result.comparison.told.map(({ what }) => what)).to.include(
      `copies of token 1 of ${collection} that ${wallet} holds`,
    );
    // That run is over: the next one reads everything.
    const again = await run();
    expect(again.from_block).to.be.lessThan(start);
    expect(again.comparison.differences).to.equal(0);
  });

  it("given a run that is under way: refuses a second run; the first one writes nothing after a takeover", async () => {
    await moneta.service.stop();
    const { child } = await stopped(60);
    const database = await openDatabase(moneta.databaseUrl);
    // Paused, it cannot renew its lease. While this process writes, the other is in no transaction.
    await database.write(() => pause(Number(child.child.pid)));
    moneta.intercept = limited(nothing());
    const refusal = await rejectionOf(runCli(moneta.env, "reconcile"));
    expect(refusal.message).to.match(/^Another process runs reconcile with this database\. Wait until it ends\./);
    await database.write((trx) =>
      trx.updateTable("leases").set({ until: 1 }).where("name", "=", "reconcile").execute(),
    );
    await database.close();
    expect((await run()).comparison.differences).to.be.greaterThan(0);
    child.child.kill("SIGCONT");
    // Its next renewal or write fails, or its call of the node that took too long; then it finds its lease taken over.
    expect(await child.gone()).to.equal(1);
    expect(child.output).to.include("Another process has taken over this run of reconcile.");
  });

  // What was read is a SQLite file with either engine.
  describeOn("sqlite", "given an interrupted run", () => {
    const file = () => join(moneta.folder, "reconcile", "chain.sqlite");

    async function interrupted(): Promise<void> {
      await moneta.service.stop();
      await killed(Math.ceil(BLOCKS / 5));
      moneta.intercept = limited(nothing());
    }

    it("reads everything again with --from-start", async () => {
      await interrupted();
      expect((await run("--from-start")).from_block).to.be.lessThan(start);
    });

    it("reads everything again after a reorg of a block that was read", async () => {
      await interrupted();
      const { writer } = openSqlite(file(), "existing");
      await writer
        .updateTable("blocks")
        .set({ hash: `0x${"1".repeat(64)}` })
        .execute();
      await writer.destroy();
      expect((await run()).from_block).to.be.lessThan(start);
    });

    it("reads everything again when another version has created the tables of what was read", async () => {
      await interrupted();
      const { writer } = openSqlite(file(), "existing");
      await sql`update kysely_migration set name = '0000-other' where name = '0001-initial'`.execute(writer);
      await writer.destroy();
      expect((await run()).from_block).to.be.lessThan(start);
    });

    it("reads everything again when another copy of the database was restored", async () => {
      await interrupted();
      await withDatabase(moneta.databaseUrl, (database) =>
        database.write((trx) => trx.deleteFrom("meta").where("key", "=", "reconcile").execute()),
      );
      expect((await run()).from_block).to.be.lessThan(start);
    });
  });
});
