import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { sql } from "kysely";

import { libpqConnection } from "../../../api/operate/backup/postgres-programs.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { describeOn } from "../../support/engine.ts";
import { useFolder } from "../../support/use-folder.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { withDatabase } from "../../../scripts/scene/scene.ts";
import { runCli } from "./support/run.ts";

describeOn("postgres", "backup without a fitting pg_dump", () => {
  const folder = useFolder();
  let place: DatabasePlace;
  let server: string;
  before(async () => {
    place = await createTestDatabase();
    const version = sql<{ server: string }>`select current_setting('server_version') as server`;
    const { rows } = await withDatabase(place.url, ({ read }) => version.execute(read));
    server = rows[0]?.server ?? "";
  });
  after(() => place.remove());

  const attempt = (bin: string) => {
    const env = { DATABASE_URL: place.url, DATA_DIR: join(folder.path, "data"), PG_BIN: bin };
    return rejectionOf(runCli(env, "backup", join(folder.path, "backup")));
  };

  /** A pg_dump that does what the lines say. */
  const program = (lines: string) => writeFile(join(folder.path, "pg_dump"), `#!/bin/sh\n${lines}\n`, { mode: 0o700 });

  it("says where it looked, and what to install", async () => {
    const error = await attempt(join(folder.path, "none"));
    expect(error.message).to.match(/pg_dump is not in .*none \(PG_BIN\)\. Install PostgreSQL's client programs/);
  });

  it("refuses one that is older than the server", async () => {
    await program("echo 'pg_dump (PostgreSQL) 9.6.24'");
    const error = await attempt(folder.path);
    expect(error.message).to.match(/pg_dump is version 9, but the server is PostgreSQL 1\d.*set PG_BIN/);
  });

  it("refuses one whose dumps the server could not restore", async function () {
    if (Number.parseInt(server, 10) >= 17) this.skip();
    await program("echo 'pg_dump (PostgreSQL) 18.1'");
    expect((await attempt(folder.path)).message).to.match(
      /pg_dump is version 18, but the server is PostgreSQL 1[56].*cannot restore its dumps.*set PG_BIN/,
    );
  });

  it("repeats what pg_dump says when it fails", async () => {
    await program(`[ $1 = --version ] && echo 'pg_dump (PostgreSQL) ${server}' && exit\necho broken >&2; exit 3`);
    expect((await attempt(folder.path)).message).to.equal("pg_dump failed (exit code 3): broken");
  });
});

describe("libpqConnection", () => {
  it("gives the password through the environment only", () => {
    const { uri, env } = libpqConnection("postgres://me:p%40ss@db.internal:5433/moneta?sslmode=verify-full&max=3");
    expect(uri).to.equal("postgres://me@db.internal:5433/moneta?sslmode=verify-full");
    expect(env).to.deep.equal({ PGPASSWORD: "p@ss" });
  });

  it("leaves out what only the service's own driver knows", () => {
    const { uri, env } = libpqConnection("postgres://me@h/d?sslmode=no-verify&options=-c%20search_path%3Da&password=x");
    expect(uri).to.equal("postgres://me@h/d?sslmode=require&options=-c%20search_path%3Da");
    expect(env).to.deep.equal({ PGPASSWORD: "x" });
  });
});
