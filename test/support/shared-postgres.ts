import { openDatabase } from "../../api/store/db/database.ts";
import { PostgresServer } from "../../scripts/postgres/server.ts";
import type { DatabasePlace } from "./database.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { eventually } from "./eventually.ts";

/* One PostgreSQL server for all test files of a Mocha run: a start takes seconds, a copy of a database milliseconds. */

/** An empty database with the newest schema, which the databases of tests are copies of. */
const TEMPLATE = "migrated";
let starting: Promise<PostgresServer> | null = null;
let migrating: Promise<void> | null = null;
let created = 0;

/** @param schema "migrated": with the newest schema and no rows. "none": without tables. */
export async function createPostgresDatabase(schema: "migrated" | "none"): Promise<DatabasePlace> {
  const server = await (starting ??= startServer());
  if (schema === "migrated") await (migrating ??= migrateTemplate(server));
  const name = nextName();
  const copies: string[] = [];
  const isOpen = async () => (await server.connections(name)) > 0;
  // The server ends the connections of a killed process some moments later.
  const closed = () => eventually(async () => ((await isOpen()) ? undefined : true));
  return {
    url: await server.createDatabase(name, schema === "migrated" ? TEMPLATE : "template1"),
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
      for (const database of [name, ...copies]) await server.dropDatabase(database);
    },
  };
}

function nextName(): string {
  return `test_${(++created).toString()}`;
}

async function migrateTemplate(server: PostgresServer): Promise<void> {
  await (await openDatabase(await server.createDatabase(TEMPLATE))).close();
}

function startServer(): Promise<PostgresServer> {
  const server = PostgresServer.start();
  atEndOfRun(async () => {
    [starting, migrating] = [null, null];
    await (await server).stop();
  });
  return server;
}
