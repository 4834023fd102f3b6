import { PostgresServer } from "../../postgres/server.ts";
import { sqliteUrl } from "../../scene/scene.ts";
export const sqliteFiles = {
    engine: "sqlite",
    create: (folder) => Promise.resolve(sqliteUrl(folder)),
};
/** A server of the benchmark's own, in which commits wait for the disk, as they do on SQLite. */
export async function startPostgres() {
    const server = await PostgresServer.start(undefined, true);
    let created = 0;
    return {
        engine: "postgres",
        create: () => server.createDatabase(`bench_${(++created).toString()}`),
        stop: () => server.stop(),
    };
}
