import { join } from "node:path";
import { MeasuredService } from "../harness/measured-service.ts";
const ALL_ROLES = "api,relayer,indexer,webhooks,media";
/** Time from the start of the process to "serving", on an empty database and on a full one in turns. */
export async function startUp(world, urls, { turns, requests }) {
    const times = { empty: [], full: [] };
    for (let turn = 0; turn < turns; turn++) {
        for (const name of ["empty", "full"]) {
            const started = performance.now();
            const log = join(world.folder, `start-up-${name}.log`);
            const process = await MeasuredService.open({ ...world.env, DATABASE_URL: urls[name] }, log, ALL_ROLES);
            times[name].push(performance.now() - started);
            await process.stop();
        }
    }
    return {
        what: `start-up with ${requests.toLocaleString("en")} requests, median`,
        unit: "ms",
        measured: percentile(times.full, 0.5),
        baseline: { what: "with an empty database", measured: percentile(times.empty, 0.5) },
        goal: null,
    };
}
/** @param part 0.99 for the time that one of a hundred exceeds. */
export function percentile(times, part) {
    const sorted = times.toSorted((one, other) => one - other);
    const value = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
    if (value === undefined)
        throw new Error("nothing was measured");
    return value;
}
