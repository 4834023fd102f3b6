import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { chmod, cp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect } from "chai";
import { Client } from "pg";

import { createCluster } from "../../../scripts/postgres/cluster.ts";
import { findPostgres, hasSystemPostgres, type PostgresSource } from "../../../scripts/postgres/programs.ts";
import { PostgresServer } from "../../../scripts/postgres/server.ts";
import { eventually } from "../../support/eventually.ts";
import { TestProcess } from "../../support/process.ts";
import { useFolder } from "../../support/use-folder.ts";

const SOURCES: PostgresSource[] = hasSystemPostgres() ? ["system", "embedded"] : ["embedded"];

async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: "array" })).rows;
  } finally {
    await client.end();
  }
}

for (const source of SOURCES) {
  describe(`a PostgreSQL server for tests, ${source}`, () => {
    let server: PostgresServer;
    before(async () => {
      server = await PostgresServer.start(source);
    });
    after(() => server.stop());

    it("copies a database with its rows", async () => {
      await query(await server.createDatabase("first"), "create table t as select 7 as x");
      expect(await query(await server.createDatabase("second", "first"), "select x from t")).to.deep.equal([[7]]);
    });

    it("removes a database, also while somebody is connected to it", async () => {
      const client = new Client({ connectionString: await server.createDatabase("busy") });
      // It is told more than once that its connection is lost.
      const lost = new Promise((resolve) => client.on("error", resolve));
      await client.connect();
      await server.dropDatabase("busy");
      await lost;
      const names = await query(server.url("postgres"), "select datname from pg_database");
      expect(names.flat()).to.not.include("busy");
    });

    for (const mode of ["fast", "immediate"] as const) {
      it(`keeps what was committed in a restart: ${mode}`, async () => {
        const url = await server.createDatabase(`restarted_${mode}`);
        const client = new Client({ connectionString: url });
        const lost = new Promise((resolve) => client.on("error", resolve));
        await client.connect();
        await client.query("create table t as select 7 as x");
        await Promise.all([server.restart(mode), lost]);
        expect(await query(url, "select x from t")).to.deep.equal([[7]]);
        expect(await server.connections("postgres")).to.be.at.least(1);
      });
    }

    it("listens on loopback only, and requires the password", async () => {
      expect(await query(server.url("postgres"), "show listen_addresses")).to.deep.equal([["127.0.0.1"]]);
      expect(await query(server.url("postgres"), "show unix_socket_directories")).to.deep.equal([[""]]);
      const url = new URL(server.url("postgres"));
      url.password = "wrong";
      const refused = await query(url.href, "select 1").catch((error: unknown) => error);
      expect(refused).to.include({ code: "28P01" });
    });

    it("orders text as a language does, so that the service must ask for the order of bytes", async () => {
      const order = "select string_agg(x, '' order by x) from (values ('b'), ('a'), ('B')) as t (x)";
      expect(await query(server.url("postgres"), order)).to.deep.equal([["abB"]]);
    });
  });
}

describe("the end of a PostgreSQL server for tests", () => {
  const SERVE = `
    const { PostgresServer } = await import("./scripts/postgres/server.ts");
    const server = await PostgresServer.start();
    console.log("URL " + server.url("postgres"));
  `;

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`comes with the end of its process by ${signal}, and removes the data`, async () => {
      const process = new TestProcess(["--input-type=module", "-e", SERVE], {});
      const url = (await process.printed(/URL (\S+)\n/))[1]!;
      const [[data]] = (await query(url, "show data_directory")) as [[string]];
      await process.end(signal);
      await eventually(() => Promise.resolve(existsSync(dirname(data)) ? undefined : true));
      expect(await query(url, "select 1").catch((error: unknown) => error)).to.include({ code: "ECONNREFUSED" });
    });
  }

  it("leaves no data behind after stop", async () => {
    const server = await PostgresServer.start();
    const [[data]] = (await query(server.url("postgres"), "show data_directory")) as [[string]];
    await server.stop();
    expect(existsSync(dirname(data))).to.equal(false);
  });
});

// PostgreSQL refuses to run as root, so that root's server belongs to another user.
if (process.getuid?.() === 0) {
  describe("createCluster, for root", () => {
    const folder = useFolder();

    it("copies the programs when they are where only root may enter", async () => {
      const { folder: bin } = findPostgres("embedded");
      const native = join(folder.path, "native");
      await cp(dirname(bin), native, { recursive: true, verbatimSymlinks: true });
      await chmod(folder.path, 0o700);
      const cluster = createCluster({ source: "embedded", folder: join(native, "bin") });
      try {
        expect(statSync(cluster.data).uid).to.equal(cluster.owner?.uid).and.not.equal(0);
        const ran = spawnSync(cluster.postgres, ["--version"], { ...cluster.owner, cwd: cluster.folder });
        expect(ran.status).to.equal(0);
      } finally {
        await rm(cluster.folder, { recursive: true });
      }
    });

    it("says what to do when the data is where only root may enter", async () => {
      await chmod(folder.path, 0o700);
      const before = process.env["TMPDIR"];
      process.env["TMPDIR"] = folder.path;
      try {
        expect(() => createCluster(findPostgres())).to.throw(/Set TMPDIR to a folder that everybody may enter\.$/);
      } finally {
        if (before === undefined) delete process.env["TMPDIR"];
        else process.env["TMPDIR"] = before;
      }
    });
  });
}
