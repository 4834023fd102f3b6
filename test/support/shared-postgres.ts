import { PostgresServer } from "../../scripts/postgres/server.ts";
import type { DatabasePlace } from "./database.ts";
import { atEndOfRun } from "../../scripts/scene/end-of-run.ts";
import { eventually } from "./eventually.ts";
import { ReadyDatabases } from "./ready-databases.ts";

/* One PostgreSQL server for all test files of a Mocha run: a start takes seconds. */

let starting: Promise<PostgresServer> | null = null;
let ready: ReadyDatabases | null = null;
let created = 0;

/** @param schema "migrated": with the newest schema and no rows. "none": without tables. */
export async function createPostgresDatabase(schema: "migrated" | "none"): Promise<DatabasePlace> {
  const server = await (starting ??= startServer());
  const pool = schema === "migrated" ? (ready ??= new ReadyDatabases(server, nextName)) : null;
  const name = (await pool?.take()) ?? nextName();
  if (pool === null) await server.createDatabase(name);
  const copies: string[] = [];
  const isOpen = async () => (await server.connections(name)) > 0;
  // The server ends the connections of a killed process some moments later.
  const closed = async () => {
    await eventually(async () => ((await isOpen()) ? undefined : true));
  };
  return {
    url: server.url(name),
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
      for (const copy of copies) await server.dropDatabase(copy);
      if (pool === null) await server.dropDatabase(name);
      else await pool.giveBack(name);
    },
  };
}

function nextName(): string {
  return `test_${(++created).toString()}`;
}

async function startServer(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  atEndOfRun(async () => {
    [starting, ready] = [null, null];
    await server.stop();
  });
  return server;
}
