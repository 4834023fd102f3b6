import { expect } from "chai";
import { Client } from "pg";

import { type ConnectionFault, PostgresProxy } from "../../../scripts/scene/postgres-proxy.ts";
import { Random } from "../../../scripts/scene/random.ts";
import { PostgresServer } from "../../../scripts/postgres/server.ts";
import { eventually } from "../../support/eventually.ts";

describe("campaign: PostgresProxy", () => {
  let server: PostgresServer;
  let proxy: PostgresProxy;
  let direct: Client;
  let url: URL;

  before(async () => {
    server = await PostgresServer.start();
    url = new URL(await server.createDatabase("proxied"));
    direct = new Client({ connectionString: url.href });
    await direct.connect();
    await direct.query("create table t (x integer)");
    proxy = await PostgresProxy.start(Number(url.port), new Random(1));
    url.port = proxy.port.toString();
  });
  after(async () => {
    await proxy.stop();
    await direct.end();
    await server.stop();
  });
  beforeEach(() => direct.query("delete from t"));
  afterEach(async () => {
    proxy.fault = null;
    // Only then do the tests count the connections of their own.
    await eventually(() => Promise.resolve(proxy.connections === 0 ? true : undefined));
  });

  const stored = async () => (await direct.query<{ x: number }>("select x from t")).rows.map(({ x }) => x);

  async function connected(): Promise<Client> {
    const client = new Client({ connectionString: url.href });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("begin; set local jit = off");
    await client.query("insert into t values ($1)", [7]);
    return client;
  }

  /** @returns how the COMMIT failed. */
  async function failedCommit(fault: ConnectionFault): Promise<string> {
    const client = await connected();
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    proxy.fault = fault;
    const failure = await client.query("commit").then(
      () => "no failure",
      (error: unknown) => String(error),
    );
    await ended;
    return failure;
  }

  it("passes on everything when there is no fault", async () => {
    const client = await connected();
    await client.query("commit");
    await client.end();
    expect([await stored(), proxy.injected]).to.deep.equal([[7], 0]);
  });

  it("ends a connection before the server gets the COMMIT: nothing is stored", async () => {
    expect(await failedCommit({ kind: "drop-before-commit", probability: 1 })).to.match(/Connection terminated/);
    expect([await stored(), proxy.injected]).to.deep.equal([[], 1]);
  });

  it("ends a connection before the client gets the answer to the COMMIT: all is stored", async () => {
    expect(await failedCommit({ kind: "drop-after-commit", probability: 1 })).to.match(/Connection terminated/);
    expect([await stored(), proxy.injected]).to.deep.equal([[7], 1]);
  });

  it("stalls all connections, and passes everything on afterwards", async () => {
    const client = await connected();
    proxy.fault = { kind: "stall" };
    expect(proxy.injected).to.equal(1);
    const commit = client.query("commit").then(() => "committed");
    // A statement on a connection of its own shows that the server works meanwhile.
    expect(await Promise.race([commit, direct.query("select pg_sleep(0.2)").then(() => "stalled")])).to.equal(
      "stalled",
    );
    proxy.fault = null;
    expect(await commit).to.equal("committed");
    await client.end();
    expect(await stored()).to.deep.equal([7]);
  });
});
