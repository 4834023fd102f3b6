import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";
import { Client } from "pg";

import type { Service } from "../../../api/context/service.ts";
import { PostgresServer } from "../../../scripts/postgres/server.ts";
import { ApiClient } from "../../support/api-client.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/folder.ts";
import { createAppIn } from "../../../scripts/scene/scene.ts";
import { startTestService } from "../../support/service.ts";
import { type BorrowedNode, borrowNode } from "../../support/shared-node.ts";

const CALLERS = 6;

/** Faults of the server while apps call and requests are under way. Each call is repeated until it is accepted. */
describeOn("postgres", "a database server that restarts, or loses its connections", () => {
  let server: PostgresServer;
  let node: BorrowedNode;
  let folder: TemporaryFolder;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  let collection: string;
  let stop = false;
  let callers: Promise<void>[] = [];
  /** Ids of the accepted requests, by idempotency key. */
  const accepted = new Map<string, string>();
  /** Answers other than 200, and how often each came. */
  const refused = new Map<string, number>();

  before("start a server, the service, and apps that call it", async () => {
    server = await PostgresServer.start();
    const admin = new URL(await server.createDatabase("faults"));
    // Limits of connections do not hold for a superuser.
    await asAdmin("create role service login password 'service'", "alter database faults owner to service");
    const url = new URL(admin);
    [url.username, url.password] = ["service", "service"];
    node = await borrowNode();
    folder = await temporaryFolder();
    service = await startTestService({
      rpcUrl: node.url,
      dataDir: folder.path,
      env: { DATABASE_URL: url.href, LEASE_SECONDS: "4", DEPLOYMENTS_DIR: node.deployments ?? "" },
    });
    api = ApiClient.at(service.baseUrl, (await createAppIn(url.href, "test")).token);
    collection = await api.collection({ type: "ERC721" });
    callers = Array.from({ length: CALLERS }, (_, index) => callAgainAndAgain(index));
  });
  after(async () => {
    stop = true;
    await Promise.all(callers);
    await service.stop();
    await node.stop();
    await folder.remove();
    await server.stop();
  });

  async function asAdmin(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: server.url("postgres") });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  async function callAgainAndAgain(caller: number): Promise<void> {
    const to = `0x${(caller + 1).toString(16).padStart(40, "0")}`;
    for (let count = 0; !stop; count++) {
      const key = `${caller.toString()}-${count.toString()}`;
      const body = { collection_address: collection, to_address: to };
      const answer = await api.send("POST", "/v1/nfts", body, { "idempotency-key": key });
      if (answer.status === 200) accepted.set(key, String(answer.body["request_id"]));
      else {
        const words = `${answer.status.toString()} ${String(answer.body["error_code"])}`;
        refused.set(words, (refused.get(words) ?? 0) + 1);
        // The same call again.
        count -= 1;
      }
      await wait(20);
    }
  }

  const ready = async () => (await fetch(`${service.baseUrl}/readyz`)).status;
  const isReady = () => eventually(async () => ((await ready()) === 200 ? true : undefined));
  const isNotReady = () => eventually(async () => ((await ready()) === 503 ? true : undefined));

  /** Waits until calls are accepted that were made after now. */
  async function goesOn(): Promise<void> {
    const before = accepted.size;
    await eventually(() => Promise.resolve(accepted.size > before + 2 * CALLERS ? true : undefined));
    await isReady();
  }

  const BACKENDS = "from pg_stat_activity where datname = 'faults' and usename = 'service'";

  it("goes on after its connections are ended", async () => {
    for (let time = 0; time < 5; time++) {
      await asAdmin(`select pg_terminate_backend(pid) ${BACKENDS}`);
      await wait(200);
    }
    await goesOn();
  });

  it("goes on after its statements are cancelled, as by a time limit", async () => {
    for (let time = 0; time < 20; time++) {
      await asAdmin(`select pg_cancel_backend(pid) ${BACKENDS} and state = 'active'`);
      await wait(50);
    }
    await goesOn();
  });

  for (const mode of ["fast", "immediate"] as const) {
    it(`goes on after the server restarts: ${mode}`, async () => {
      await server.restart(mode);
      await goesOn();
    });
  }

  it("says that it is not ready while the server has no free connection, and goes on afterwards", async () => {
    const before = refused.get("503 unavailable") ?? 0;
    await asAdmin("alter role service connection limit 0", `select pg_terminate_backend(pid) ${BACKENDS}`);
    await isNotReady();
    await eventually(() => Promise.resolve((refused.get("503 unavailable") ?? 0) > before ? true : undefined));
    await asAdmin("alter role service connection limit -1");
    await goesOn();
  });

  it("answers 503 meanwhile, and stores and settles every accepted request once", async () => {
    stop = true;
    await Promise.all(callers);
    expect([...refused.keys()]).to.deep.equal(["503 unavailable"]);
    const { read } = service.database;
    const ids = [...accepted.values()].sort();
    expect(new Set(ids).size).to.equal(accepted.size);
    const stored = await read.selectFrom("requests").select("id").where("type", "=", "mint").execute();
    expect(stored.map(({ id }) => id).sort()).to.deep.equal(ids);
    const unfinished = read.selectFrom("requests").select("id").where("status", "<>", "completed");
    await eventually(async () => ((await unfinished.execute()).length === 0 ? true : undefined));
    const minted = await read.selectFrom("nfts").select("token_id").execute();
    expect(minted).to.have.length(ids.length);
  });
});
