import { expect } from "chai";

import { describeOn } from "../../support/engine.ts";
import {
  type CommitProxy as PostgresProxy,
  startCommitProxy as startPostgresProxy,
} from "../../../scripts/scene/postgres-proxy.ts";
import { useService } from "../../support/use-service.ts";

/** The server commits, and the answer is lost with the connection: the service cannot know whether it was committed. */
describeOn("postgres", "a connection to the database that is lost at a commit", () => {
  // The service reaches its database through a proxy.
  const moneta = useService({ start: false });
  const { api } = moneta;
  let proxy: PostgresProxy;

  before("start the service behind a proxy", async () => {
    proxy = await startPostgresProxy(moneta.databaseUrl);
    await moneta.start({ DATABASE_URL: proxy.url });
  });
  after(async () => {
    await moneta.stop();
    await proxy.stop();
  });

  const FIELDS = { type: "ERC721", name: "Test", symbol: "TST" } as const;
  const unavailable = { status: 503, code: "unavailable" };

  async function call(path: string, body: Record<string, unknown>, key: string) {
    const { status, body: answer } = await api.send("POST", path, body, { "idempotency-key": key });
    return { status, code: answer["error_code"], id: answer["request_id"] ?? answer["address"] };
  }

  async function storedRequests(): Promise<string[]> {
    const rows = await moneta.service.database.read.selectFrom("requests").select("id").execute();
    return rows.map(({ id }) => id).sort();
  }

  for (const count of [1, 5]) {
    it(`stores each of ${count.toString()} calls once, and answers it when it is repeated`, async () => {
      const before = await storedRequests();
      const keys = Array.from({ length: count }, (_, index) => `requests-${count.toString()}-${index.toString()}`);
      const lost = proxy.loseCommitOf("insert into requests");
      const answers = await Promise.all(keys.map((key) => call("/v1/collections", FIELDS, key)));
      await lost;
      // All of them share a transaction, unless the look-ups of one took longer.
      expect(answers.some(({ status }) => status === 503)).to.equal(true);
      for (const { status, code } of answers) if (status !== 200) expect({ status, code }).to.deep.equal(unavailable);
      const repeated = await Promise.all(keys.map((key) => call("/v1/collections", FIELDS, key)));
      expect(repeated.map(({ status }) => status)).to.deep.equal(keys.map(() => 200));
      const stored = (await storedRequests()).filter((id) => !before.includes(id));
      expect(stored).to.deep.equal(repeated.map(({ id }) => String(id)).sort());
      for (const id of stored) expect((await api.settled(id)).status).to.equal("completed");
    });

    it(`creates each of ${count.toString()} wallets once, and answers it when it is repeated`, async () => {
      const users = Array.from({ length: count }, (_, index) => `wallets-${count.toString()}-${index.toString()}`);
      const create = () => Promise.all(users.map((user) => call("/v1/accounts", { user_identifier: user }, user)));
      const lost = proxy.loseCommitOf("insert into wallets");
      const answers = await create();
      await lost;
      expect(answers.some(({ status }) => status === 503)).to.equal(true);
      for (const { status, code } of answers) if (status !== 200) expect({ status, code }).to.deep.equal(unavailable);
      const repeated = await create();
      expect(repeated.map(({ status }) => status)).to.deep.equal(users.map(() => 200));
      expect(new Set(repeated.map(({ id }) => id)).size).to.equal(count);
    });
  }

  for (const [what, statement] of [
    ["the lane stores a batch", 'insert into "batches"'],
    ["the lane claims requests", "update requests set ready_at = null, lane ="],
    ["the indexer stores blocks", "insert into blocks"],
  ] as const) {
    it(`settles a request once when the answer is lost while ${what}`, async () => {
      const lost = proxy.loseCommitOf(statement);
      const id = await api.accept("/v1/collections", FIELDS);
      await lost;
      expect((await api.settled(id)).status).to.equal("completed");
      const { read } = moneta.service.database;
      const batches = await read.selectFrom("batch_items").select("batch_id").where("request_id", "=", id).execute();
      expect(batches).to.have.length(1);
    });
  }
});
