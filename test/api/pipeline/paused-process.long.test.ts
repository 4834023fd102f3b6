import { createServer } from "node:http";

import { expect } from "chai";
import { sql } from "kysely";

import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { pause } from "../../../scripts/scene/program.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { TEST_ENGINE } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestProcess } from "../../support/process.ts";
import { useService } from "../../support/use-service.ts";

/** Long enough that a busy machine delays no renewal for so long: then a running process would lose its work. */
const LEASE_SECONDS = 8;

/** One process accepts, two do the rest. The first of the two is paused in the middle of its work, and woken later. */
describe("a process that is paused for longer than its leases", () => {
  // Processes, because one is paused.
  const moneta = useService({ start: false, settings: { LEASE_SECONDS: LEASE_SECONDS.toString(), LANES: "2" } });
  const { api } = moneta;
  const worker = (name: string) => {
    const url = new URL(moneta.databaseUrl);
    if (TEST_ENGINE === "postgres") url.searchParams.set("application_name", name);
    return moneta.spawn({ ROLES: "relayer,indexer,webhooks,media", DATABASE_URL: url.href });
  };
  let first: TestProcess;
  let second: TestProcess;
  let database: Database;
  let receiver: WebhookReceiver;
  let media: Listening;
  let downloads = 0;
  let accepted: string[];
  let settled: RequestBody[];

  /**
   * Who has each lease that is taken, by process id, and its fencing token. Without the pruner's: it is held only while it
   * works, by whoever comes first.
   */
  async function leases(): Promise<Record<string, { pid: number; fence: number }>> {
    const lanes = await database.read.selectFrom("lanes").selectAll().execute();
    const others = await database.read.selectFrom("leases").where("name", "!=", "pruner").selectAll().execute();
    const rows = [
      ...lanes.map((row) => ({ name: `lane ${String(row.lane)}`, holder: row.lease_holder, fence: row.lease_fence })),
      ...others,
    ];
    const taken = rows.flatMap(({ name, holder, fence }) => (holder === null ? [] : [{ name, holder, fence }]));
    return Object.fromEntries(
      taken.map(({ name, holder, fence }) => [name, { pid: Number(holder.split("/")[2]), fence }]),
    );
  }

  /**
   * Pauses it while it is in no transaction: on SQLite nobody could write until it wakes up, and PostgreSQL would end its
   * connections.
   */
  async function pauseBetweenWrites({ child }: TestProcess): Promise<void> {
    const paused = () => pause(Number(child.pid));
    // Nobody else writes meanwhile.
    if (TEST_ENGINE === "sqlite") return database.write(paused);
    do {
      // It must run until it is idle: a process that gets only moments between two pauses never ends its transaction.
      child.kill("SIGCONT");
      await eventually(async () => ((await isInTransaction()) ? undefined : true));
      await paused();
    } while (await isInTransaction());
  }

  /** Whether a connection of the first process is in a transaction. */
  async function isInTransaction(): Promise<boolean> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'first' and xact_start is not null
        and backend_type = 'client backend'`.execute(database.read);
    return rows[0]?.count !== 0;
  }

  before("pause a process while it sends a webhook and downloads media", async () => {
    receiver = await WebhookReceiver.listen();
    // The first download never ends.
    const server = createServer((_request, response) => {
      if (++downloads > 1) response.end("GIF89a");
    });
    media = await listenOnLoopback(server);
    await moneta.startProcess({ ROLES: "api" });
    first = worker("first");
    const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
    await api.ok("PUT", "/v1/webhook", { url: receiver.url });
    database = await openDatabase(moneta.databaseUrl);

    const image = `${media.url}/cat`;
    const slow = await api.accept("/v1/nfts", {
      collection_address: collection,
      to_address: to,
      image,
      copy_media: true,
    });
    await eventually(() => Promise.resolve(downloads === 1 ? true : undefined));
    const paused = new Promise<void>((resolve, reject) => {
      receiver.respond = (_call, response) => {
        const end = () => {
          response.end();
          resolve();
        };
        if (receiver.calls.length > 1) end();
        else pauseBetweenWrites(first).then(end, reject);
      };
    });
    accepted = [slow, await api.accept("/v1/nfts", { collection_address: collection, to_address: to })];
    await paused;
    second = worker("second");
    await second.printed(/"msg":"serving"/);
    settled = await Promise.all(accepted.map((id) => api.settled(id)));
    await eventually(async () => {
      const { deliveries } = await api.ok<{ deliveries: { status: string }[] }>("GET", "/v1/webhook/deliveries");
      return deliveries.length === 4 && deliveries.every(({ status }) => status === "delivered") ? true : undefined;
    });
  });
  after(async () => {
    await database.close();
    await receiver.close();
    await media.stop();
  });

  it("is replaced by the other, which finishes its work", async () => {
    expect(settled.map(({ status }) => status)).to.deep.equal(["completed", "completed"]);
    expect(settled.map(({ nft_token_id: id }) => Number(id)).sort()).to.deep.equal([1, 2]);
    expect(downloads).to.equal(2);
    // A lane that has nothing to do is taken over only when its lease has expired.
    await eventually(async () => {
      const holders = Object.values(await leases());
      return holders.every(({ pid }) => pid === second.child.pid) ? true : undefined;
    });
  });

  it("changes nothing when it wakes up", async () => {
    first.child.kill("SIGCONT");
    await first.printed(/"lane":0,"msg":"another process has taken over this lane"/);
    await first.printed(/"lane":1,"msg":"another process has taken over this lane"/);
    await first.printed(/"lease":"indexer","msg":"another process has taken over this work"/);
    await first.printed(/"msg":"a webhook was sent late: another process has taken it over, or it is over"/);
    expect(await Promise.all(accepted.map((id) => api.settled(id)))).to.deep.equal(settled);
    const { deliveries } = await api.ok<{ deliveries: { attempts: number; status: string }[] }>(
      "GET",
      "/v1/webhook/deliveries",
    );
    expect(deliveries.map(({ attempts, status }) => [attempts, status])).to.deep.equal(Array(4).fill([1, "delivered"]));
    // One event was sent twice, under one id.
    const ids = receiver.calls.map((call) => call.headers["webhook-id"]);
    expect([ids.length, new Set(ids).size]).to.deep.equal([5, 4]);
  });
});
