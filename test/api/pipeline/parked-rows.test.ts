import { expect } from "chai";

import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { connectRelay } from "../../../api/chain/relay-administration.ts";
import type { Examination } from "../../../api/checks/examine.ts";
import type { Reconciliation } from "../../../api/operate/reconcile/reconcile.ts";
import { poison } from "../../../scripts/scene/poison.ts";
import { eventually } from "../../support/eventually.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { parkedIds } from "../../support/poison.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";
import { scrape } from "../metrics/support.ts";

const GOOD = 1_000;
const NONE = [{ check: "parked", result: "ok", words: "no row is parked" }];

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
  const read = () => moneta.service.database.read;
  const rowOf = (id: string) =>
    read()
      .selectFrom("requests")
      .select(["status", "command", "lane", "ready_at"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const set = (id: string, fields: { command?: string; ready_at?: number }) =>
    moneta.service.database.write((trx) => trx.updateTable("requests").set(fields).where("id", "=", id).execute());
  const parked = (kind = "request") => parkedIds(moneta.service.database, kind);
  const findings = async () =>
    (await jsonOfCli<Examination>(moneta.env, "doctor")).findings.filter(({ check }) => check === "parked");

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
      const done = await read().selectFrom("requests").select("id").where("status", "=", "completed").execute();
      return done.filter(({ id }) => wanted.has(id)).length === ids.length ? true : undefined;
    });
  }

  it("are a request that cannot be read, one that cannot be claimed, and one that no batch can carry: all others are sent", async () => {
    const { database } = moneta.service;
    let [unreadable, unclaimable, refused, command] = ["", "", "", ""];
    let good: string[] = [];
    const cures: (() => Promise<void>)[] = [];
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
    const bad = [unreadable, refused, unclaimable];
    await expectAllCompleted(good);
    await eventually(async () => ((await parked()).length === 3 ? true : undefined));
    expect(await parked()).to.have.members(bad);
    // Those whose rows can be changed are moved to a later time.
    for (const id of [unreadable, refused]) {
      const row = await rowOf(id);
      expect(row).to.include({ status: "pending", lane: null });
      expect(row.ready_at).to.be.above(Date.now());
    }

    // They are named in the log, in the metrics, in doctor and in readyz, which stays 200.
    const logged = (lines as (LogLine & { condition?: string; id?: string })[]).filter(
      ({ condition }) => condition === "row_parked",
    );
    expect(new Set(logged.map(({ id }) => id))).to.deep.equal(new Set(bad));
    const metrics = await scrape(moneta.service.metricsPort);
    expect(metrics.value("moneta_parked_rows", { kind: "request" })).to.equal(3);
    expect(metrics.value("moneta_condition", { condition: "row_parked" })).to.equal(1);
    const [found] = await findings();
    expect(found).to.include({ result: "problem", condition: "row_parked" });
    expect(found?.words).to.include(unreadable).and.to.include(refused);
    await moneta.says("parked", "rows");
    expect((await moneta.readyz()).status).to.equal(200);

    // They are sent once their cause is gone.
    for (const cure of cures) await cure();
    await set(unreadable, { command, ready_at: 0 });
    await set(refused, { ready_at: 0 });
    await database.write((trx) => trx.updateTable("parked_rows").set({ next_at: 0 }).execute());
    await expectAllCompleted(bad);
    expect(await parked()).to.deep.equal([]);
    expect(await findings()).to.deep.equal(NONE);
    await moneta.says("ok", "rows");
  });

  /** The indexer has stopped before a block, and says why. Claims and webhooks go on. */
  async function expectStopped(kind: string, id: string, words: string): Promise<void> {
    await moneta.says("failing", "indexer");
    await moneta.says("parked", "rows");
    const stopped = await moneta.checkpoint();
    const [finding] = await findings();
    expect(finding).to.include({ result: "problem", condition: "row_parked" });
    expect(finding?.words).to.contain(id).and.to.contain(words);
    expect(await parked(kind)).to.deep.equal([id]);
    await api.processing(await api.accept("/v1/nfts", mint("later")));
    expect(await moneta.checkpoint()).to.equal(stopped);
  }

  async function expectWhole(ids: readonly string[]): Promise<void> {
    await expectAllCompleted(ids);
    const tokens = await read().selectFrom("nfts").select("supply").where("request_id", "in", ids).execute();
    expect(tokens).to.deep.equal(ids.map(() => ({ supply: "1" })));
    expect(await findings()).to.deep.equal(NONE);
    expect((await jsonOfCli<Reconciliation>(moneta.env, "reconcile")).comparison.told).to.deep.equal([]);
  }

  for (const [what, wrong] of [
    ["text that is not JSON", null],
    ["a number where a text belongs", { to: 5 }],
  ] as const) {
    it(`stop the indexer if a command in flight becomes ${what}, and lose nothing after \`request repair\``, async () => {
      await moneta.provider.send("evm_setAutomine", [false]);
      const id = await api.accept("/v1/nfts", mint("n"));
      await api.processing(id);
      const { command } = await rowOf(id);
      await set(id, {
        command: wrong === null ? "{" : JSON.stringify({ ...(JSON.parse(command) as object), ...wrong }),
      });
      await moneta.provider.send("evm_mine", []);
      await moneta.provider.send("evm_setAutomine", [true]);
      const after = await api.accept("/v1/nfts", mint("o"));
      await expectStopped("request", id, "request repair");
      const repaired = await jsonOfCli<{ command: object }>(moneta.env, "request", "repair", id);
      expect(repaired.command).to.include({ kind: "mint-erc721", collection, to: wallet });
      await expectWhole([id, after]);
      const { metadata } = JSON.parse((await rowOf(id)).command) as { metadata: object | null };
      // What can be read of the metadata stays.
      expect(metadata).to.deep.equal(wrong === null ? null : { name: "n" });
    });
  }

  for (const [what, on] of [
    ["a token", (id: string) => ["nfts", "insert", `new.request_id = '${id}'`] as const],
    ["an outcome", (id: string) => ["requests", "update", `new.id = '${id}' and new.status = 'completed'`] as const],
  ] as const) {
    it(`stop the indexer if the database refuses to store ${what}, and lose nothing once it accepts it`, async () => {
      let [id, cure] = ["", () => Promise.resolve()];
      let good: string[] = [];
      await whilePaused(async () => {
        id = await api.accept("/v1/nfts", mint("c"));
        const [table, event, when] = on(id);
        cure = await poison(moneta.service.database, { table, event, when });
        good = await acceptMany(10);
      });
      await expectStopped("block", await eventually(async () => (await parked("block"))[0]), "poison");
      await cure();
      await expectWhole([id, ...good]);
    });
  }
});
