import { expect } from "chai";

import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { connectRelay } from "../../../api/chain/relay-administration.ts";
import type { Condition } from "../../../api/domain/conditions.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { poison } from "../../../scripts/scene/poison.ts";
import { eventually } from "../../support/eventually.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { parkedIds } from "../../support/poison.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";
import { scrape } from "../metrics/support.ts";

interface Finding {
  check: string;
  result: string;
  words: string;
  condition?: Condition;
}

const GOOD = 1_000;

/** One row that always throws beside a thousand good ones: the good ones finish, and the bad one is named. */
describe("parked rows", () => {
  const { logger, lines } = logLines("info");
  // Its own logger, and rows that nobody else may see.
  const moneta = useService({ logger, settings: { METRICS_PORT: "0" } });
  const { api } = moneta;
  let collection: string;
  let wallet: string;

  before(async () => {
    collection = await api.collection({ type: "ERC721" });
    wallet = await api.wallet();
  });

  const mint = (name: string) => ({ collection_address: collection, to_address: wallet, name });
  const rowOf = (id: string) =>
    moneta.service.database.read
      .selectFrom("requests")
      .select(["status", "command", "lane", "ready_at"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const set = (id: string, fields: { command?: string; ready_at?: number }) =>
    moneta.service.database.write((trx) => trx.updateTable("requests").set(fields).where("id", "=", id).execute());
  const tokenOf = (id: string) =>
    moneta.service.database.read
      .selectFrom("nfts")
      .select(["token_id", "supply", "metadata"])
      .where("request_id", "=", id)
      .executeTakeFirstOrThrow();
  const readiness = async () => {
    const response = await fetch(`${moneta.baseUrl}/readyz`);
    return { status: response.status, body: (await response.json()) as { checks?: Record<string, string> } };
  };
  const findings = async () =>
    (await jsonOfCli<{ findings: Finding[] }>(moneta.env, "doctor")).findings.filter(({ check }) => check === "parked");

  /** Nothing is sent while the rows are prepared. */
  const whilePaused = (prepare: () => Promise<void>) =>
    withLocalOwner(moneta.node.url, async (owner) => {
      const relay = connectRelay(moneta.service.contracts.relay, owner);
      await (await relay.pause()).wait();
      await prepare();
      await (await relay.unpause()).wait();
    });

  const acceptMany = (count: number) =>
    api.acceptBatch(
      "/v1/nfts/batch",
      Array.from({ length: count }, (_, index) => mint(`good ${index.toString()}`)),
    );

  async function expectAllCompleted(ids: readonly string[]): Promise<void> {
    const wanted = new Set(ids);
    await eventually(async () => {
      const done = await moneta.service.database.read
        .selectFrom("requests")
        .select("id")
        .where("status", "=", "completed")
        .execute();
      return done.filter(({ id }) => wanted.has(id)).length === ids.length ? true : undefined;
    });
  }

  describe("given a request that cannot be read, one that cannot be claimed, and one that no batch can carry", () => {
    let unreadable: string;
    let unclaimable: string;
    let refused: string;
    let good: string[];
    let command: string;
    const cures: (() => Promise<void>)[] = [];

    before(async () => {
      const { database } = moneta.service;
      await whilePaused(async () => {
        unreadable = await api.accept("/v1/nfts", mint("a"));
        refused = await api.accept("/v1/nfts", mint("b"));
        unclaimable = await api.accept("/v1/nfts", mint("i"));
        ({ command } = await rowOf(unreadable));
        for (const when of [`new.id = '${refused}' and new.status = 'processing'`, `new.id = '${unclaimable}'`])
          cures.push(await poison(database, { table: "requests", event: "update", when }));
        await set(unreadable, { command: "{" });
        good = await acceptMany(GOOD);
      });
    });

    it("sends all others", async () => {
      await expectAllCompleted(good);
    });

    it("parks the three, and moves those whose rows can be changed to a later time", async () => {
      const { database } = moneta.service;
      await eventually(async () => ((await parkedIds(database, "request")).length === 3 ? true : undefined));
      expect(await parkedIds(database, "request")).to.have.members([unreadable, refused, unclaimable]);
      for (const id of [unreadable, refused]) {
        const row = await rowOf(id);
        expect(row).to.include({ status: "pending", lane: null });
        expect(row.ready_at).to.be.above(Date.now());
      }
    });

    it("names them in the log, in the metrics, in doctor and in readyz, which stays 200", async () => {
      const logged = (lines as (LogLine & { condition?: string; id?: string })[]).filter(
        ({ condition }) => condition === "row_parked",
      );
      expect(new Set(logged.map(({ id }) => id))).to.deep.equal(new Set([unreadable, refused, unclaimable]));
      const metrics = await scrape(moneta.service.metricsPort);
      expect(metrics.value("moneta_parked_rows", { kind: "request" })).to.equal(3);
      expect(metrics.value("moneta_condition", { condition: "row_parked" })).to.equal(1);
      const [found] = await findings();
      expect(found).to.include({ result: "problem", condition: "row_parked" });
      expect(found?.words).to.include(unreadable).and.to.include(refused);
      await eventually(async () => ((await readiness()).body.checks?.["rows"] === "parked" ? true : undefined));
      expect((await readiness()).status).to.equal(200);
    });

    it("sends them once their cause is gone", async () => {
      for (const cure of cures) await cure();
      const { database } = moneta.service;
      await set(unreadable, { command, ready_at: 0 });
      await set(refused, { ready_at: 0 });
      await database.write((trx) => trx.updateTable("parked_rows").set({ next_at: 0 }).execute());
      await expectAllCompleted([unreadable, refused, unclaimable]);
      expect(await parkedIds(database, "request")).to.deep.equal([]);
      expect(await findings()).to.deep.equal([{ check: "parked", result: "ok", words: "no row is parked" }]);
      await eventually(async () => ((await readiness()).body.checks?.["rows"] === "ok" ? true : undefined));
    });
  });

  /** A request that cannot be read, in a transaction that is mined then. */
  async function damagedInFlight(damage: (command: string) => string): Promise<{ id: string; command: string }> {
    await moneta.provider.send("evm_setAutomine", [false]);
    const id = await api.accept("/v1/nfts", mint("n"));
    await api.processing(id);
    const { command } = await rowOf(id);
    await set(id, { command: damage(command) });
    await moneta.provider.send("evm_mine", []);
    await moneta.provider.send("evm_setAutomine", [true]);
    return { id, command };
  }
  const checkpoint = async () => Number(await readMeta(moneta.service.database.read, "checkpoint"));
  /** The indexer has stopped before a block, and says why. Claims and webhooks go on. */
  async function expectStopped(kind: string, id: string): Promise<void> {
    const stopped = await eventually(async () => {
      const { body } = await readiness();
      return body.checks?.["indexer"] === "failing" && body.checks["rows"] === "parked" ? checkpoint() : undefined;
    });
    const [finding] = await findings();
    expect(finding).to.include({ result: "problem", condition: "row_parked" });
    expect(finding?.words).to.contain(id);
    expect(await parkedIds(moneta.service.database, kind)).to.deep.equal([id]);
    const later = await api.accept("/v1/nfts", mint("later"));
    await api.processing(later);
    expect(await checkpoint()).to.equal(stopped);
  }
  async function expectWhole(ids: readonly string[]): Promise<void> {
    await expectAllCompleted(ids);
    for (const id of ids) expect(await tokenOf(id)).to.include({ supply: "1" });
    expect(await findings()).to.deep.equal([{ check: "parked", result: "ok", words: "no row is parked" }]);
    expect((await jsonOfCli<Reconciliation>(moneta.env, "reconcile")).comparison.told).to.deep.equal([]);
  }

  for (const [what, wrong] of [
    ["text that is not JSON", null],
    ["a number where a text belongs", { to: 5 }],
  ] as const) {
    describe(`given a command that becomes ${what} while its transaction is in flight`, () => {
      it("stops at its block and names the request, and loses nothing once `request repair` has made the command again", async () => {
        const damaged = await damagedInFlight((command) =>
          wrong === null ? "{" : JSON.stringify({ ...(JSON.parse(command) as object), ...wrong }),
        );
        const after = await api.accept("/v1/nfts", mint("o"));
        await expectStopped("request", damaged.id);
        expect((await findings())[0]?.words).to.contain("request repair");
        const repaired = await jsonOfCli<{ command: object }>(moneta.env, "request", "repair", damaged.id);
        expect(repaired.command).to.include({ kind: "mint-erc721", collection, to: wallet });
        await expectWhole([damaged.id, after]);
        const { metadata } = JSON.parse((await rowOf(damaged.id)).command) as { metadata: object | null };
        // What can be read of the metadata stays.
        expect(metadata).to.deep.equal(wrong === null ? null : { name: "n" });
      });
    });
  }

  for (const [what, on] of [
    ["a token", (id: string) => ["nfts", "insert", `new.request_id = '${id}'`] as const],
    ["an outcome", (id: string) => ["requests", "update", `new.id = '${id}' and new.status = 'completed'`] as const],
  ] as const) {
    describe(`given ${what} that the database refuses to store`, () => {
      it("stops at the block and names it, and loses nothing once the database accepts it", async () => {
        const { database } = moneta.service;
        let [id, cure] = ["", () => Promise.resolve()];
        let good: string[] = [];
        await whilePaused(async () => {
          id = await api.accept("/v1/nfts", mint("c"));
          const [table, event, when] = on(id);
          cure = await poison(database, { table, event, when });
          good = await acceptMany(10);
        });
        const block = await eventually(async () => (await parkedIds(database, "block"))[0]);
        await expectStopped("block", block);
        expect((await findings())[0]?.words).to.contain("poison");
        await cure();
        await expectWhole([id, ...good]);
      });
    });
  }
});
