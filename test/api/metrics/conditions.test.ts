import { expect } from "chai";
import { parseEther } from "ethers";

import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { connectRelay } from "../../../api/chain/relay-administration.ts";
import { BACKLOG_SLOW, type Condition, CONDITIONS, LANE_STUCK } from "../../../api/domain/conditions.ts";
import { readPipeline } from "../../../api/store/doctor/pipeline.ts";
import { openBatches } from "../../../api/store/sending/batches.ts";
import { watchBacklog } from "../../../api/checks/backlog-watch.ts";
import { eventually } from "../../support/eventually.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { useService } from "../../support/use-service.ts";
import { jsonOfCli } from "../cli/support/run.ts";
import { scrape } from "./support.ts";

interface Examination {
  findings: { check: string; result: string; condition?: Condition }[];
}

/** Each state that an operator must look at has one name in the log, in `doctor` and in `/metrics`. */
describe("conditions", () => {
  const { logger, lines } = logLines("info");
  /** Of a watch of the test. That of the service looks every half minute. */
  const backlogLog = logLines("info");
  // At first no condition holds, and the log has no line.
  const moneta = useService({ logger, settings: { METRICS_PORT: "0" } });
  const { api } = moneta;

  const ofMetrics = async () => {
    const found = await scrape(moneta.service.metricsPort);
    return CONDITIONS.filter((condition) => found.value("moneta_condition", { condition }) === 1);
  };
  const ofDoctor = async () => {
    const { findings } = await jsonOfCli<Examination>(moneta.env, "doctor");
    return findings.flatMap(({ condition }) => condition ?? []);
  };
  const ofLog = () =>
    ([...lines, ...backlogLog.lines] as (LogLine & { condition?: Condition })[]).flatMap(
      ({ condition }) => condition ?? [],
    );
  const reported = async (condition: Condition) => {
    await eventually(async () => ((await ofMetrics()).includes(condition) ? true : undefined));
    expect(await ofDoctor(), "doctor").to.include(condition);
    await eventually(() => Promise.resolve(ofLog().includes(condition) || undefined));
  };
  const over = (condition: Condition) =>
    eventually(async () => ((await ofMetrics()).includes(condition) ? undefined : true));
  const lane = () =>
    moneta.service.database.read.selectFrom("lanes").selectAll().where("lane", "=", 0).executeTakeFirstOrThrow();
  const mint = async () =>
    api.accept("/v1/nfts", {
      collection_address: await api.collection({ type: "ERC721" }),
      to_address: await api.wallet(),
    });

  it("none holds at first", async () => {
    await api.settled(await mint());
    expect(await ofMetrics()).to.deep.equal([]);
    expect(await ofDoctor()).to.deep.equal([]);
    expect(ofLog()).to.deep.equal([]);
  });

  it("low_funds", async () => {
    const { address } = await lane();
    // Enough for a mint, and for fewer than ten.
    const { baseFeePerGas } = (await moneta.provider.getBlock("latest")) ?? {};
    const tip = BigInt((await moneta.provider.send("eth_maxPriorityFeePerGas", [])) as string);
    await moneta.fund(address, 2_000_000n * (2n * (baseFeePerGas ?? 0n) + tip));
    await api.settled(await mint());
    await reported("low_funds");
    await moneta.fund(address, parseEther("1000"));
    await over("low_funds");
  });

  it("relay_paused", async () => {
    const collection = await api.collection({ type: "ERC721" });
    const wallet = await api.wallet();
    await withLocalOwner(moneta.node.url, async (owner) => {
      const relay = connectRelay(moneta.service.contracts.relay, owner);
      await (await relay.pause()).wait();
      const waiting = await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
      await reported("relay_paused");
      await (await relay.unpause()).wait();
      await over("relay_paused");
      expect((await api.settled(waiting)).status).to.equal("completed");
    });
  });

  it("backlog_growing", async () => {
    const { database } = moneta.service;
    const id = await mint();
    await api.settled(id);
    const set = (fields: { ready_at: number | null; created_at: number }) =>
      database.write((trx) => trx.updateTable("requests").set(fields).where("id", "=", id).execute());
    const { created_at: acceptedAt } = await database.read
      .selectFrom("requests")
      .select("created_at")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    // Ready in nine minutes, so that no lane takes it.
    await set({ ready_at: Date.now() + 540_000, created_at: Date.now() - BACKLOG_SLOW - 5_000 });
    const watch = watchBacklog({ database, logger: backlogLog.logger, now: () => Date.now() });
    await watch.look();
    await watch.look();
    expect(backlogLog.lines).to.have.length(1);
    await reported("backlog_growing");
    await set({ ready_at: null, created_at: acceptedAt });
    await over("backlog_growing");
    await watch.look();
    await watch.look();
    expect(backlogLog.lines.slice(1).map(({ msg }) => msg)).to.deep.equal(["requests are sent in time again"]);
  });

  it("lane_stuck", async () => {
    const [collection, wallet] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await moneta.provider.send("evm_setAutomine", [false]);
    const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
    const { database } = moneta.service;
    const batch = await eventually(async () => (await openBatches(database.read))[0]);
    // Signed six minutes ago.
    await database.write((trx) =>
      trx
        .updateTable("batches")
        .set({ created_at: Date.now() - LANE_STUCK - 60_000 })
        .where("id", "=", batch.id)
        .execute(),
    );
    await reported("lane_stuck");
    // It is counted once.
    const { backlog } = await readPipeline(database.read, Date.now());
    expect(backlog).to.deep.equal({ media: 0, pending: 0, processing: 1 });
    await moneta.provider.send("evm_setAutomine", [true]);
    await moneta.provider.send("evm_mine", []);
    await over("lane_stuck");
    expect((await api.settled(id)).status).to.equal("completed");
  });

  it("contract_quarantined", async () => {
    const { database } = moneta.service;
    const address = "0x00000000000000000000000000000000000000aB";
    const row = { address, type: "ERC721", name: null, reason: "flood", as_of: null, failures: 0 } as const;
    const rest = { quarantines: 1, released_at: null, window_from: 0, window_logs: 0, created_at: 1 };
    await database.write((trx) =>
      trx
        .insertInto("foreign_contracts")
        .values({ ...row, ...rest, state: "quarantined", due_at: Date.now() + 3_600_000 })
        .execute(),
    );
    await eventually(async () => ((await ofMetrics()).includes("contract_quarantined") ? true : undefined));
    expect(await ofDoctor()).to.include("contract_quarantined");
    expect((await scrape(moneta.service.metricsPort)).value("moneta_quarantined_contracts")).to.equal(1);
  });
});
