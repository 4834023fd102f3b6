import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeProcess } from "../../scene/node.ts";
import { median } from "../harness/row.ts";
import { MeasuredService } from "../harness/measured-service.ts";
import { startBareServer } from "../pipeline/bare/server-process.ts";
const ALL_ROLES = "api,relayer,indexer,webhooks,media";
/** From the start of the service's process until it serves: with a new database, and with one that it has used. */
export const starting = { name: "starting", measure: run };
async function run({ quick, databases }) {
    const times = quick ? 1 : 7;
    const folder = await mkdtemp(join(tmpdir(), "moneta-bench-"));
    const node = await NodeProcess.start("hardhat", folder);
    const ms = { fresh: [], again: [], bare: [] };
    try {
        for (let index = 0; index < times; index++) {
            const own = join(folder, index.toString());
            await mkdir(own);
            const env = {
                RPC_URL: node.url,
                DATA_DIR: own,
                DATABASE_URL: await databases.create(own),
                // Each new database belongs to new contracts, as on a new chain.
                DEPLOYMENTS_DIR: join(own, "deployments"),
            };
            const start = () => MeasuredService.open(env, join(own, "service.log"), ALL_ROLES);
            // In turns, so that a slow moment of the machine affects all of them.
            ms.fresh.push(await timeOf(start));
            ms.again.push(await timeOf(start));
            ms.bare.push(await timeOf(() => startBareServer({ database: env.DATABASE_URL, file: join(own, "bare.sqlite") })));
        }
    }
    finally {
        await node.stop();
        await rm(folder, { recursive: true, force: true });
    }
    const baseline = {
        what: "an Express server that opens the database, started the same way",
        measured: median(ms.bare),
    };
    const note = `The median of ${times.toString()} starts, all roles in one process.`;
    return [
        {
            what: "start-up with a new database",
            unit: "ms",
            measured: median(ms.fresh),
            baseline,
            note: `${note} It creates the seed and the tables, and deploys the contracts on the local chain.`,
        },
        { what: "start-up with an existing database", unit: "ms", measured: median(ms.again), baseline, note },
    ];
}
/** @returns milliseconds until it is started. It is stopped afterwards. */
async function timeOf(start) {
    const begun = performance.now();
    const started = await start();
    const spent = performance.now() - begun;
    await started.stop();
    return spent;
}
