import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import { expect } from "chai";

import { UNMEASURED_GAS } from "../../../api/domain/gas-estimate.ts";
import { CHECKS } from "../../../api/checks/examine.ts";
import { judgeDisk } from "../../../api/operate/media-checks.ts";
import { readGasMeasurement, writeGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import type { DeliveryRow } from "../../../api/store/db/schema.ts";
import { freePort } from "../../../scripts/scene/loopback.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { useDoctor, worstOf } from "./support/doctor.ts";
import { runCli } from "./support/run.ts";

const HOUR = 3_600_000;
const GIB = 2 ** 30;

describe("doctor", () => {
  const doctor = useDoctor();
  const { moneta } = doctor;

  describe("given a healthy service", () => {
    it("reports one ok finding or more for every check", async () => {
      const { result, findings, failed } = await doctor.examine();
      expect(findings.filter((finding) => finding.result !== "ok")).to.deep.equal([]);
      expect(result).to.equal("ok");
      expect(failed).to.equal(false);
      const names = [...CHECKS.map(({ name }) => name), "disk", "store", "media", "settings"];
      expect([...new Set(findings.map(({ check }) => check))]).to.deep.equal([...new Set(names)]);
    });

    it("prints a line for each finding and a count at the end, also with --all", async () => {
      const { output } = await runCli(moneta.env, "doctor", "--all");
      expect(output).to.match(/^ok {7}chain {6}the node serves chain 31337/);
      expect(output).to.match(/\n0 problems, 0 warnings\n$/);
    });

    it("warns without failing when PUBLIC_URL differs from the hosted base URI", async () => {
      const env = { PUBLIC_URL: "https://nft.example" };
      const examination = await doctor.examine(env);
      expect(worstOf(examination, "contracts").words).to.match(/PUBLIC_URL gives https:\/\/nft\.example\/metadata\//);
      expect(examination).to.include({ result: "warning", failed: false });
    });
  });

  it("given a chain on which a new storage slot costs twice as much as the relay was planned for: warns, and says what happens then", async () => {
    const { database } = moneta.service;
    const { measurement } = await readGasMeasurement(database.read);
    const store = (newSlot: number) =>
      doctor.change((one) =>
        one.write((trx) => writeGasMeasurement(trx, { ...(measurement ?? UNMEASURED_GAS), newSlot }, null)),
      );
    await store(2 * 108_000);
    const warned = worstOf(await doctor.examine(), "reserve");
    await store(108_000);
    expect(worstOf(await doctor.examine(), "reserve").result).to.equal("ok");
    await store(measurement?.newSlot ?? 0);
    expect(warned.result).to.equal("warning");
    expect(warned.words).to.match(
      /^A new storage slot costs 216000 gas, and the relay's reserve was planned for 115000\. .* nothing is lost/,
    );
  });

  it("given a node that does not answer: reports it, and still runs the checks that need no node", async () => {
    const examination = await doctor.examine({ RPC_URL: `http://127.0.0.1:${(await freePort()).toString()}` });
    expect(examination).to.include({ result: "problem", failed: true });
    const words = examination.findings.filter(({ check }) => check === "chain").map((finding) => finding.words);
    expect(words[0]).to.match(/The node at RPC_URL does not answer/);
    expect(words[1]).to.equal(
      "Skipped because they need this chain: contracts, lanes, fees, funds, numbers, indexer, rescued.",
    );
    for (const check of ["seed", "sealed", "backlog", "outbox", "effects"]) {
      expect(worstOf(examination, check).result, check).to.equal("ok");
    }
  });

  it("given a node of another chain: recognises another chain id, and another block 0", async () => {
    const proxy = await startRpcProxy(moneta.node.url);
    try {
      proxy.intercept = ({ method }) => (method === "eth_chainId" ? { result: "0x1" } : undefined);
      expect(worstOf(await doctor.examine({ RPC_URL: proxy.url }), "chain").words).to.match(
        /belongs to chain 31337, but the node serves chain 1\./,
      );
      const latest = (await moneta.node.provider.send("eth_getBlockByNumber", ["latest", false])) as object;
      proxy.intercept = ({ method, params }) =>
        method === "eth_getBlockByNumber" && params[0] === "0x0" ? { result: { ...latest, number: "0x0" } } : undefined;
      const examination = await doctor.examine({ RPC_URL: proxy.url });
      expect(worstOf(examination, "chain").words).to.match(/another chain with the same id 31337/);
      expect(examination.failed).to.equal(true);
    } finally {
      await proxy.stop();
    }
  });

  it("given keys of another database: says which key is wrong", async () => {
    const { env, folder } = moneta;
    const secrets = JSON.parse(await readFile(`${folder}/local-secrets.json`, "utf8")) as Record<string, string>;
    const other = randomBytes(32).toString("base64");
    const unknownKey = worstOf(await doctor.examine({ SECRET_KEYS: other }), "sealed");
    expect(unknownKey.result).to.equal("problem");
    expect(unknownKey.words).to.contain(doctor.mintId);
    const older = await doctor.examine({ SECRET_KEYS: `${other},${secrets["secret_keys"] ?? ""}` });
    expect(worstOf(older, "sealed")).to.include({ result: "warning" });
    expect(worstOf(older, "sealed").words).to.match(/keys rotate/);
    const seed = async (more: Record<string, string>) => worstOf(await doctor.examine(more), "seed").words;
    expect(await seed({ SEED_PASSPHRASE: "wrong" })).to.match(/passphrase/);
    expect(await seed({ SEED_FILE: `${folder}/none` })).to.match(/cannot be read/);
    const seedFile = `${folder}/other-seed.jwe`;
    await runCli({ ...env, SEED_FILE: seedFile, SEED_PASSPHRASE: "another horse, no battery" }, "keys", "create");
    expect(await seed({ SEED_FILE: seedFile, SEED_PASSPHRASE: "another horse, no battery" })).to.match(/did not make/);
  });

  // The last blocks: the service stays stopped.
  describe("given that no service runs", () => {
    let longAgo: number;

    before("stop the service, which has a webhook", async () => {
      const receiver = await WebhookReceiver.listen();
      await moneta.api.ok("PUT", "/v1/webhook", { url: receiver.url });
      await moneta.stop();
      await receiver.close();
      longAgo = Date.now() - 2 * HOUR;
    });

    it("warns that a delivery is overdue", async () => {
      await doctor.change(async (database) => {
        const { read } = database;
        const { id: app_id } = await read.selectFrom("apps").select("id").executeTakeFirstOrThrow();
        const event = await read.selectFrom("events").select("seq").limit(1).executeTakeFirstOrThrow();
        const times = { next_at: longAgo, created_at: longAgo, updated_at: longAgo };
        const row = {
          id: "late",
          event_seq: event.seq,
          app_id,
          webhook_id: app_id,
          request_id: null,
          subject: null,
          status: "pending",
          tries: 1,
          ...times,
        };
        await database.write((trx) =>
          trx
            .insertInto("deliveries")
            .values(row as DeliveryRow)
            .execute(),
        );
      });
      const finding = worstOf(await doctor.examine(), "outbox");
      expect(finding.result).to.equal("warning");
      expect(finding.words).to.match(/^Webhook deliveries are overdue and not being sent, the oldest for 2 h/);
    });

    it("reports the waiting requests and the blocks that were not read", async () => {
      await doctor.change((database) =>
        database.write((trx) =>
          trx
            .updateTable("requests")
            .set({ status: "pending", ready_at: longAgo, created_at: longAgo })
            .where("id", "=", doctor.mintId)
            .execute(),
        ),
      );
      await moneta.node.provider.send("hardhat_mine", ["0x3", "0xe10"]);
      const examination = await doctor.examine();
      const backlog = worstOf(examination, "backlog");
      expect(backlog.words).to.match(/waiting to be sent, the oldest for 2 h/);
      expect(backlog.result).to.equal("problem");
      expect(worstOf(examination, "indexer").words).to.match(/3 blocks behind the head \(2 h\)/);
    });
  });
});

describe("judgeDisk, of doctor", () => {
  for (const [what, free, result, words] of [
    ["full", GIB / 100, "problem", "The disk is full: 10 MiB (0 %) of the disk of DATA_DIR are free."],
    ["almost full", 5 * GIB, "warning", "Only 5120 MiB (5 %) of the disk of DATA_DIR are free."],
    ["with room", 50 * GIB, "ok", "51200 MiB (50 %) of the disk of DATA_DIR are free"],
  ] as const) {
    it(`finds a disk ${what}`, () => {
      const found = judgeDisk({ used: 100 * GIB - free, free });
      expect([found.result, found.words.startsWith(words)], found.words).to.deep.equal([result, true]);
    });
  }
});
