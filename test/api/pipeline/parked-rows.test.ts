import { expect } from "chai";

import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { connectRelay } from "../../../api/chain/relay-administration.ts";
import type { Condition } from "../../../api/domain/conditions.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
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

  describe("given a token whose metadata cannot be stored, and a request that cannot be settled", () => {
    let without: string;
    let unsettled: string;
    let good: string[];
    const cures: (() => Promise<void>)[] = [];

    before(async () => {
      const { database } = moneta.service;
      await whilePaused(async () => {
        [without, unsettled] = [await api.accept("/v1/nfts", mint("c")), await api.accept("/v1/nfts", mint("d"))];
        for (const [table, event, when] of [
          ["nfts", "insert", `new.request_id = '${without}' and new.metadata is not null`],
          ["nfts", "update", `new.request_id = '${without}' and new.metadata is not null`],
          ["requests", "update", `new.id = '${unsettled}' and new.status = 'completed'`],
        ] as const) {
          cures.push(await poison(database, { table, event, when }));
        }
        good = await acceptMany(GOOD);
      });
    });

    it("stores the blocks, and settles all others", async () => {
      await expectAllCompleted([...good, without]);
      expect((await rowOf(unsettled)).status).to.equal("processing");
      expect(await tokenOf(without)).to.include({ supply: "1", metadata: null });
      expect(await parkedIds(moneta.service.database, "metadata")).to.deep.equal([without]);
      expect(await parkedIds(moneta.service.database, "request")).to.deep.equal([unsettled]);
      expect((await findings()).map(({ condition }) => condition)).to.deep.equal(["row_parked", "row_parked"]);
    });

    it("settles the request, and reconcile stores the metadata, once the cause is gone", async () => {
      for (const cure of cures) await cure();
      const { database } = moneta.service;
      await database.write((trx) => trx.updateTable("parked_rows").set({ next_at: 0 }).execute());
      await expectAllCompleted([await api.accept("/v1/nfts", mint("e")), unsettled]);
      const { comparison } = await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
      expect(comparison.told).to.deep.equal([
        {
          what: `token ${(await tokenOf(without)).token_id} of ${collection}`,
          stored: "metadata null",
          chain: `metadata ${JSON.stringify('{"name":"c"}')}`,
        },
      ]);
      expect(await tokenOf(without)).to.include({ supply: "1", metadata: '{"name":"c"}' });
      expect(await parkedIds(database, "metadata")).to.deep.equal([]);
      expect(await findings()).to.deep.equal([{ check: "parked", result: "ok", words: "no row is parked" }]);
    });
  });

  describe("given a command that gets a number where a text belongs while its transaction is in flight", () => {
    it("goes on with all others, names the request, and settles it once `request repair` has made the command again", async () => {
      const { database } = moneta.service;
      for (const wrong of [{ to: 5 }, { collection: 5 }, { kind: 5 }]) {
        await moneta.provider.send("evm_setAutomine", [false]);
        const damaged = await api.accept("/v1/nfts", mint("n"));
        await api.processing(damaged);
        const { command } = await rowOf(damaged);
        await set(damaged, { command: JSON.stringify({ ...(JSON.parse(command) as object), ...wrong }) });
        await moneta.provider.send("evm_mine", []);
        await moneta.provider.send("evm_setAutomine", [true]);
        await expectAllCompleted([await api.accept("/v1/nfts", mint("o"))]);
        expect(await parkedIds(database, "request"), JSON.stringify(wrong)).to.deep.equal([damaged]);
        const [finding] = await findings();
        expect(finding?.words).to.contain(damaged).and.to.contain(`request repair`);
        const repaired = await jsonOfCli<{ command: object }>(moneta.env, "request", "repair", damaged);
        expect(repaired.command).to.include({ kind: "mint-erc721", collection, to: wallet });
        await expectAllCompleted([await api.accept("/v1/nfts", mint("p")), damaged]);
        expect(await parkedIds(database, "request")).to.deep.equal([]);
        const { metadata } = JSON.parse((await rowOf(damaged)).command) as { metadata: object | null };
        // What can be read of the metadata stays.
        expect(metadata).to.deep.equal({ name: "n" });
        await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
        expect(await findings()).to.deep.equal([{ check: "parked", result: "ok", words: "no row is parked" }]);
      }
    });
  });

  describe("given a request whose command becomes unreadable while its transaction is in flight", () => {
    it("stores the token from the chain, and the rest once the command can be read again", async () => {
      const { database } = moneta.service;
      await moneta.provider.send("evm_setAutomine", [false]);
      const damaged = await api.accept("/v1/nfts", mint("f"));
      await api.processing(damaged);
      const { command } = await rowOf(damaged);
      await set(damaged, { command: "{" });
      await moneta.provider.send("evm_mine", []);
      await moneta.provider.send("evm_setAutomine", [true]);
      await expectAllCompleted([await api.accept("/v1/nfts", mint("g"))]);
      expect(await tokenOf(damaged)).to.include({ supply: "1", metadata: null });
      expect(await parkedIds(database, "metadata")).to.deep.equal([damaged]);
      expect(await parkedIds(database, "request")).to.deep.equal([damaged]);
      await set(damaged, { command });
      await database.write((trx) => trx.updateTable("parked_rows").set({ next_at: 0 }).execute());
      await expectAllCompleted([await api.accept("/v1/nfts", mint("h")), damaged]);
      await jsonOfCli<Reconciliation>(moneta.env, "reconcile");
      expect(await tokenOf(damaged)).to.include({ metadata: '{"name":"f"}' });
      expect(await findings()).to.deep.equal([{ check: "parked", result: "ok", words: "no row is parked" }]);
    });
  });
});
