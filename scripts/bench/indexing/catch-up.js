import { join } from "node:path";
import { readMeta } from "../../../api/store/db/meta.ts";
import { profile, profileAt } from "../harness/profile.ts";
import { MeasuredService } from "../harness/measured-service.ts";
import { until } from "../../scene/until.ts";
import { startProbe } from "./probe.ts";
/** Without the relayer, so that the calls beside it send nothing to the node. */
const ROLES = "api,indexer,webhooks,media";
const LOOK = { every: 5 };
/** Starts the service on a backlog and measures from the indexer's first step until the last block is stored. */
export async function catchUp(world, database, { backlog, calls, profiles, name, }) {
    const lease = await fenceOf(database);
    const began = until("the indexer", async () => (await fenceOf(database)) > lease, LOOK).then(() => performance.now());
    const [started, service] = await Promise.all([
        began,
        MeasuredService.open(world.env, join(world.folder, "service.log"), ROLES),
    ]);
    try {
        if (service.url === null)
            throw new Error("the service does not answer HTTP calls");
        const probe = await startProbe(service.url, world.token, calls);
        const done = () => until("the backlog", async () => Number(await readMeta(database.read, "checkpoint")) >= backlog.to, LOOK);
        let ended = NaN;
        const work = async () => {
            await done();
            ended = performance.now();
        };
        const file = profileAt(profiles, name);
        await (file === null ? work() : profile(service.instruments, file, work));
        await probe.stop();
        return { rate: (backlog.events * 1000) / (ended - started), times: probe.times };
    }
    finally {
        await service.stop();
    }
}
/** It grows when a process takes the indexer's work. */
async function fenceOf(database) {
    const row = await database.read.selectFrom("leases").select("fence").where("name", "=", "indexer").executeTakeFirst();
    return row?.fence ?? 0;
}
