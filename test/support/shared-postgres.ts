import { join } from "node:path";

import { Pooler } from "../../scripts/postgres/pooler.ts";
import { PostgresServer } from "../../scripts/postgres/server.ts";
import type { DatabasePlace } from "./database.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";
import { eventually } from "./eventually.ts";
import { temporaryFolder } from "./folder.ts";
import { ReadyDatabases } from "./ready-databases.ts";

/* One PostgreSQL server for all test files of a Mocha run: a start takes seconds. */

interface Server {
  server: PostgresServer;
  /** PgBouncer in front of it, when TEST_POOLER is the path of its program. */
  pooler: Pooler | null;
}

let starting: Promise<Server> | null = null;
let ready: ReadyDatabases | null = null;
let created = 0;

/** @param schema "migrated": with the newest schema and no rows. "none": without tables. */
export async function createPostgresDatabase(schema: "migrated" | "none"): Promise<DatabasePlace> {
  const { server, pooler } = await (starting ??= startServer());
  const pool = schema === "migrated" ? (ready ??= new ReadyDatabases(server, nextName)) : null;
  const name = (await pool?.take()) ?? nextName();
  if (pool === null) await server.createDatabase(name);
  const copies: string[] = [];
  const isOpen = async () => (await (pooler ?? server).connections(name)) > 0;
  // The server ends the connections of a killed process some moments later.
  const closed = async () => {
    await eventually(async () => ((await isOpen()) ? undefined : true));
    await release();
  };
  const release = async () => {
    if (pooler === null) return;
    await eventually(async () => {
      await server.disconnect(name);
      return (await server.connections(name)) > 0 ? undefined : true;
    });
  };
  return {
    url: (pooler ?? server).url(name),
    isOpen,
    backUp: async () => {
      await closed();
      const copy = nextName();
      await server.createDatabase(copy, name);
      copies.push(copy);
      return async () => {
        await server.dropDatabase(name);
        await server.createDatabase(name, copy);
      };
    },
    remove: async () => {
      await release();
      for (const copy of copies) await server.dropDatabase(copy);
      if (pool === null) await server.dropDatabase(name);
      else await pool.giveBack(name);
    },
  };
}

function nextName(): string {
  return `test_${(++created).toString()}`;
}

async function startServer(): Promise<Server> {
  const server = await PostgresServer.start();
  const command = process.env["TEST_POOLER"] ?? "";
  const folder = command === "" ? null : await temporaryFolder();
  const pooler =
    folder === null ? null : await Pooler.start(command, join(folder.path, "pgbouncer"), new URL(server.url("")));
  atEndOfRun(async () => {
    [starting, ready] = [null, null];
    await pooler?.stop();
    await folder?.remove();
    await server.stop();
  });
  return { server, pooler };
}
