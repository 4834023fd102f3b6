import { PostgresServer } from "./server.ts";
import { sqliteUrl } from "../scene/scene.ts";

/** Where the measured services keep their data. */
export interface Databases {
  engine: "sqlite" | "postgres";
  /** @returns the URL of a database for one service. @param folder of the service, which is removed with it. */
  create(folder: string): Promise<string>;
}

export const sqliteFiles: Databases = {
  engine: "sqlite",
  create: (folder) => Promise.resolve(sqliteUrl(folder)),
};

/** A server for this run, in which commits wait for the disk, as they do on SQLite. */
export async function startPostgres(): Promise<Databases & { stop: () => Promise<void> }> {
  const server = await PostgresServer.start(undefined, true);
  let created = 0;
  return {
    engine: "postgres",
    create: () => server.createDatabase(`bench_${(++created).toString()}`),
    stop: () => server.stop(),
  };
}
