import { join } from "node:path";
import { startBareServer } from "./bare/server-process.ts";
import { Load } from "../harness/load.ts";
import { profileAt } from "../harness/profile.ts";
import { MeasuredService } from "../harness/measured-service.ts";
import { inTurns, rowsOfCalls, Side } from "../harness/turns.ts";
import { World } from "../harness/world.ts";
const CONNECTIONS = 64;
const NAMES = { sqlite: "SQLite", postgres: "PostgreSQL" };
/**
 * Calls per second of the API while nothing else runs (`ROLES=api`), and the CPU time of a call, which depends less on
 * what else the machine does. Baseline: Express and the same engine alone.
 */
export const accepting = { name: "accepting", measure: run };
async function run({ quick, profiles, databases }) {
    const calls = quick ? 2_500 : 10_000;
    const world = await World.start({ databases, settings: { MAX_BACKLOG: "10000000" } });
    try {
        const wallet = await world.wallet();
        const collection = await world.collection();
        const body = { collection_address: collection, to_address: wallet };
        // A full page of tokens for the reads below.
        await world.load.run(60, () => ({ method: "POST", path: "/v1/nfts", body }));
        await world.untilCompleted("mint", 60);
        await world.stopProcesses();
        return await apiAlone(world, body, calls, { profiles, databases });
    }
    finally {
        await world.stop();
    }
}
async function apiAlone(world, body, calls, { profiles, databases: { engine } }) {
    const api = await MeasuredService.open({ ...world.env, LOG_LEVEL: "info" }, join(world.folder, "api-alone.log"), "api");
    if (api.url === null)
        throw new Error("the service does not answer HTTP calls");
    const bare = await startBareServer({ database: world.env.DATABASE_URL, file: join(world.folder, "bare.sqlite") });
    const [ours, theirs] = [
        new Side(api, new Load([api.url], CONNECTIONS, world.token)),
        new Side(bare, new Load([bare.url], CONNECTIONS)),
    ];
    const owner = body.to_address;
    try {
        const [accepted, inserted] = await inTurns(calls, [
            [ours, () => ({ method: "POST", path: "/v1/nfts", body }), profileAt(profiles, "mints-accepted")],
            [theirs, () => ({ method: "POST", path: "/mints", body }), null],
        ]);
        const [read, query] = await inTurns(calls, [
            [ours, () => ({ method: "GET", path: `/v1/accounts/${owner}` }), profileAt(profiles, "contents-read")],
            [theirs, () => ({ method: "GET", path: `/contents/${owner}` }), null],
        ]);
        return [
            ...rowsOfCalls("mint accepted", accepted, { what: `Express, zod, ${NAMES[engine]} with group commit`, ...inserted }, 0.7),
            ...rowsOfCalls("wallet contents read", read, { what: "one prepared query behind Express", ...query }, 0.5),
        ];
    }
    finally {
        await ours.load.close();
        await theirs.load.close();
        await api.stop();
        await bare.stop();
    }
}
