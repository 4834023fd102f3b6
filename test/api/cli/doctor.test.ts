import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import { expect } from "chai";

import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { connectContracts } from "../../../api/chain/deployed.ts";
import { createApp } from "../../../api/operator/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { CHECKS, type Examination } from "../../../api/doctor/examine.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { ApiClient } from "../../support/api-client.ts";
import { freePort } from "../../../scripts/nodes/free-port.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";
import { runCli } from "./support/run.ts";

const HOUR = 3_600_000;

describe("doctor", function () {
  this.timeout(60_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  let env: Record<string, string>;
  let mintId: string;
  let collection: string;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    env = { PORT: "0", RPC_URL: node.url, DATA_DIR: folder.path };
    service = await startTestService({ rpcUrl: node.url, dataDir: folder.path });
    api = new ApiClient(service.baseUrl, (await createApp(service, "doctor")).token);
    const [from, to] = [await api.wallet(), await api.wallet()];
    collection = await api.collection({ type: "ERC721" });
    const mint = { collection_address: collection, to_address: from, name: "One", unlockable_content: "secret" };
    mintId = (await api.completed("/v1/nfts", mint)).request_id;
    await api.completed("/v1/transfers", {
      from_address: from,
      to_address: to,
      contract_address: collection,
      token_id: 1,
    });
    const editions = await api.collection({ type: "ERC1155" });
    await api.completed("/v1/nfts", {
      collection_address: editions,
      initial_owner: to,
      token_id: 7,
      initial_supply: 2,
    });
    await api.completed("/v1/nfts", { collection_address: editions, to_address: from, token_id: 7, quantity: 3 });
  });
  after(async () => {
    await service.stop();
    await node.stop();
    await folder.remove();
  });

  async function examined(more: Record<string, string> = {}): Promise<Examination & { failed: boolean }> {
    const { output, failed } = await runCli({ ...env, ...more }, "doctor", "--json");
    return { ...(JSON.parse(output) as Examination), failed };
  }

  /** What one check said, worst first. */
  function said({ findings }: Examination, check: string): { result: string; words: string } {
    const own = findings.filter((finding) => finding.check === check);
    const bad =
      own.find(({ result }) => result === "problem") ?? own.find(({ result }) => result === "warning") ?? own[0];
    if (bad === undefined) throw new Error(`the check ${check} said nothing`);
    return bad;
  }

  /** Changes rows behind the service's back, looks, and puts the file back. */
  async function tampered(
    change: (database: Database) => Promise<unknown>,
    undo: (database: Database) => Promise<unknown>,
  ) {
    const database = await openDatabase(`file:${folder.path}/moneta.sqlite`);
    try {
      await change(database);
      return await examined();
    } finally {
      await undo(database);
      await database.close();
    }
  }

  describe("beside a service that works", () => {
    it("finds nothing, with a word from every check", async () => {
      const { result, findings, failed } = await examined();
      expect(findings.filter((finding) => finding.result !== "ok")).to.deep.equal([]);
      expect(result).to.equal("ok");
      expect(failed).to.equal(false);
      const names = [...CHECKS.map(({ name }) => name), "media"];
      expect([...new Set(findings.map(({ check }) => check))]).to.deep.equal(names);
    });

    it("says it in words, with a count at the end, and looks at all of it when asked", async () => {
      const { output } = await runCli(env, "doctor", "--all");
      expect(output).to.match(/^ok {7}chain {6}chain 31337/);
      expect(output).to.match(/0 problems, 0 warnings\n$/);
    });

    it("warns of what does not keep it from working, without failing", async () => {
      const examination = await examined({ PUBLIC_URL: "https://nft.example" });
      expect(said(examination, "contracts").words).to.match(/PUBLIC_URL makes it https:\/\/nft\.example\/metadata\//);
      expect(examination).to.include({ result: "warning", failed: false });
    });
  });

  describe("given a node that is away", () => {
    it("says so, and still looks at everything else", async () => {
      const examination = await examined({ RPC_URL: `http://127.0.0.1:${(await freePort()).toString()}` });
      expect(examination).to.include({ result: "problem", failed: true });
      const words = examination.findings.filter(({ check }) => check === "chain").map((finding) => finding.words);
      expect(words[0]).to.match(/The node at RPC_URL does not answer/);
      expect(words[1]).to.equal("Not looked at without the chain: contracts, lanes, funds, numbers, indexer.");
      for (const check of ["seed", "sealed", "backlog", "outbox", "effects"]) {
        expect(said(examination, check).result, check).to.equal("ok");
      }
    });
  });

  describe("given a node of another chain", () => {
    it("tells the chain id, and the genesis block, apart", async () => {
      const proxy = await startRpcProxy(node.url);
      try {
        proxy.intercept = ({ method }) => (method === "eth_chainId" ? { result: "0x1" } : undefined);
        expect(said(await examined({ RPC_URL: proxy.url }), "chain").words).to.match(
          /belongs to chain 31337, the node serves chain 1\./,
        );
        const latest = (await node.provider.send("eth_getBlockByNumber", ["latest", false])) as object;
        proxy.intercept = ({ method, params }) =>
          method === "eth_getBlockByNumber" && params[0] === "0x0"
            ? { result: { ...latest, number: "0x0" } }
            : undefined;
        const examination = await examined({ RPC_URL: proxy.url });
        expect(said(examination, "chain").words).to.match(/another chain with the id 31337/);
        expect(examination.failed).to.equal(true);
      } finally {
        await proxy.stop();
      }
    });
  });

  describe("given contracts that are not this service's", () => {
    it("says that they do not belong together, or are not there", async () => {
      const key = "contracts";
      const { value } = await service.database.read
        .selectFrom("meta")
        .select("value")
        .where("key", "=", key)
        .executeTakeFirstOrThrow();
      const set = (contracts: object) => (database: Database) =>
        database.write((trx) =>
          trx
            .updateTable("meta")
            .set({ value: JSON.stringify(contracts) })
            .where("key", "=", key)
            .execute(),
        );
      const known = JSON.parse(value) as Record<string, string>;
      const mixed = await tampered(
        set({ ...known, delegate: known["factory"], factory: known["delegate"] }),
        set(known),
      );
      expect(said(mixed, "contracts").result).to.equal("problem");
      const gone = await tampered(set({ ...known, factory: collection.replace(/....$/, "0000") }), set(known));
      expect(said(gone, "contracts").words).to.match(/no code at: factory/);
    });
  });

  describe("given lanes that cannot send", () => {
    it("says low before empty", async () => {
      const { address } = await service.database.read.selectFrom("lanes").select("address").executeTakeFirstOrThrow();
      const give = (wei: bigint) => node.provider.send("hardhat_setBalance", [address, `0x${wei.toString(16)}`]);
      const before = await node.provider.getBalance(address);
      const { baseFeePerGas } = (await node.provider.getBlock("latest")) ?? {};
      const full =
        16_777_216n *
        (2n * (baseFeePerGas ?? 0n) + BigInt((await node.provider.send("eth_maxPriorityFeePerGas", [])) as string));
      await give(full * 3n);
      const low = await examined();
      expect(said(low, "funds")).to.include({ result: "warning" });
      expect(said(low, "funds").words).to.match(/is low: .* enough for 3 full batches/);
      await give(full / 2n);
      expect(said(await examined(), "funds")).to.include({ result: "problem" });
      await give(0n);
      expect(said(await examined(), "funds").words).to.match(/is empty/);
      await give(before);
      expect(said(await examined(), "funds").result).to.equal("ok");
    });

    it("says who must do what when the relay refuses the lane", async () => {
      const { address } = await service.database.read.selectFrom("lanes").select("address").executeTakeFirstOrThrow();
      await withLocalOwner(node.url, async (owner) => {
        const { relay } = connectContracts(service.contracts, owner);
        await (await relay.setOperator(address, false)).wait();
        expect(said(await examined(), "lanes").words).to.match(/no operator of the relay/);
        await (await relay.setOperator(address, true)).wait();
        await (await relay.pause()).wait();
        expect(said(await examined(), "lanes").words).to.match(/relay is paused/);
        await (await relay.unpause()).wait();
      });
      expect(said(await examined(), "lanes").result).to.equal("ok");
    });

    it("recognises a nonce that the database does not know", async () => {
      const { lane, next_nonce: nonce } = await service.database.read
        .selectFrom("lanes")
        .selectAll()
        .executeTakeFirstOrThrow();
      const set = (next: number) => (database: Database) =>
        database.write((trx) => trx.updateTable("lanes").set({ next_nonce: next }).where("lane", "=", lane).execute());
      const examination = await tampered(set(nonce - 1), set(nonce));
      expect(said(examination, "lanes").words).to.match(/is an old backup, .* reconcile/);
    });
  });

  describe("given numbers that the chain knows otherwise", () => {
    const change = (id: string, fields: Record<string, string | number | null>) => (database: Database) =>
      database.write((trx) => trx.updateTable("requests").set(fields).where("id", "=", id).execute());

    it("finds a final request that was not executed", async () => {
      const { number } = await service.database.read
        .selectFrom("requests")
        .select("number")
        .where("id", "=", mintId)
        .executeTakeFirstOrThrow();
      const examination = await tampered(change(mintId, { number: "1" }), change(mintId, { number }));
      expect(said(examination, "numbers").words).to.match(
        new RegExp(`1 final requests are not executed on chain: ${mintId}`),
      );
    });

    it("finds a request that ran before it was sent, or after it was said to have failed", async () => {
      const row = await service.database.read
        .selectFrom("requests")
        .selectAll()
        .where("id", "=", mintId)
        .executeTakeFirstOrThrow();
      const { seq: _seq, ...fields } = row;
      // Far in the future for the relayer of the running service, which must not touch it.
      const pending = { status: "pending", ready_at: Date.now() + 300_000, batch_id: null };
      const early = await tampered(change(mintId, pending), change(mintId, fields));
      expect(said(early, "numbers").words).to.match(/has not sent were executed/);
      const unsent = { status: "failed", block_number: null, transaction_hash: null, batch_id: null };
      const failed = await tampered(change(mintId, unsent), change(mintId, fields));
      expect(said(failed, "numbers").words).to.match(/failed as never sent, but were executed/);
    });
  });

  describe("given a completed mint whose token the chain has lost", () => {
    it("fails, and names the request", async () => {
      const set = (requestId: string | null) => (database: Database) =>
        database.write((trx) =>
          trx
            .updateTable("nfts")
            .set({ request_id: requestId })
            .where("contract", "=", collection)
            .where("token_id", "=", "1")
            .execute(),
        );
      const examination = await tampered(set(null), set(mintId));
      expect(said(examination, "effects").result).to.equal("problem");
      expect(said(examination, "effects").words).to.contain(mintId);
    });
  });

  describe("given a completed mint that a deep reorg has made another one", () => {
    it("fails for a week, and names the request", async () => {
      const event = (days: number) => async (database: Database) => {
        const { app_id: app } = await database.read
          .selectFrom("requests")
          .select("app_id")
          .where("id", "=", mintId)
          .executeTakeFirstOrThrow();
        const created = Date.now() - days * 24 * HOUR;
        const row = {
          id: "fix",
          app_id: app,
          position: null,
          request_id: mintId,
          type: "corrected" as const,
          body: "{}",
          created_at: created,
        };
        await database.write((trx) => trx.insertInto("events").values(row).execute());
      };
      const undo = (database: Database) =>
        database.write((trx) => trx.deleteFrom("events").where("id", "=", "fix").execute());
      expect(said(await tampered(event(1), undo), "effects").words).to.match(
        new RegExp(`Request ${mintId} .*\\(event corrected\\)`),
      );
      expect(said(await tampered(event(8), undo), "effects").result).to.equal("ok");
    });
  });

  describe("given keys that are not those of the database", () => {
    it("says which one is wrong", async () => {
      const secrets = JSON.parse(await readFile(`${folder.path}/local-secrets.json`, "utf8")) as Record<string, string>;
      const other = randomBytes(32).toString("base64");
      const shut = await examined({ SECRET_KEYS: other });
      expect(said(shut, "sealed").result).to.equal("problem");
      expect(said(shut, "sealed").words).to.contain(mintId);
      const older = await examined({ SECRET_KEYS: `${other},${secrets["secret_keys"] ?? ""}` });
      expect(said(older, "sealed")).to.include({ result: "warning" });
      expect(said(older, "sealed").words).to.match(/keys rotate/);
      expect(said(await examined({ SEED_PASSPHRASE: "wrong" }), "seed").words).to.match(/passphrase does not open/);
      expect(said(await examined({ SEED_FILE: `${folder.path}/none` }), "seed").words).to.match(/cannot be read/);
      const seedFile = `${folder.path}/other-seed.jwe`;
      await runCli({ ...env, SEED_FILE: seedFile, SEED_PASSPHRASE: "another" }, "keys", "create");
      const wrong = await examined({ SEED_FILE: seedFile, SEED_PASSPHRASE: "another" });
      expect(said(wrong, "seed").words).to.match(/another seed/);
    });
  });

  describe("given that the service is not running", () => {
    it("says what waits, and since when", async () => {
      const receiver = await startReceiver();
      await api.ok("PUT", "/v1/webhook", { url: receiver.url });
      await service.stop();
      await receiver.stop();
      const database = await openDatabase(`file:${folder.path}/moneta.sqlite`);
      try {
        const { id } = await database.read.selectFrom("apps").select("id").executeTakeFirstOrThrow();
        const long = Date.now() - 2 * HOUR;
        const event = await database.read.selectFrom("events").selectAll().limit(1).executeTakeFirstOrThrow();
        await database.write(async (trx) => {
          await trx
            .updateTable("requests")
            .set({ status: "pending", ready_at: long, created_at: long })
            .where("id", "=", mintId)
            .execute();
          await trx
            .insertInto("deliveries")
            .values({
              id: "late",
              event_seq: event.seq,
              app_id: id,
              request_id: null,
              status: "pending",
              tries: 0,
              next_at: long,
              response_status: null,
              error: null,
              created_at: long,
              updated_at: long,
            })
            .execute();
        });
      } finally {
        await database.close();
      }
      await node.provider.send("hardhat_mine", ["0x3", "0xe10"]);
      const examination = await examined();
      expect(said(examination, "backlog").words).to.match(/1 requests wait to be sent, the oldest for 2 h/);
      expect(said(examination, "backlog").result).to.equal("problem");
      expect(said(examination, "outbox").words).to.match(/1 webhook deliveries are due and nobody sends them/);
      expect(said(examination, "indexer").words).to.match(/3 blocks behind the head \(2 h\)/);
    });
  });

  describe("given a database that no service has used", () => {
    it("says so", async () => {
      const empty = await temporaryFolder();
      try {
        const error = await runCli({ ...env, DATA_DIR: empty.path }, "doctor").then(
          () => null,
          (reason: unknown) => reason as Error,
        );
        expect(error?.message).to.match(/is new: the service was never started with it/);
      } finally {
        await empty.remove();
      }
    });
  });
});
