import { profile, profileAt } from "./profile.ts";
import { usagePerRequest } from "./usage.ts";
/** Mints before a measurement: the code is compiled by then. */
export const WARM_UP = 300;
/** @param before how many mints the app had completed. */
export async function mintAll(world, collection, to, mints, before) {
    const body = { collection_address: collection, to_address: to };
    return measure(world, mints, async () => {
        await world.load.run(mints, () => ({ method: "POST", path: "/v1/nfts", body }));
        await world.untilCompleted("mint", before + mints);
    });
}
export async function transferAll(world, { collection, from, to }, transfers) {
    return measure(world, transfers, async () => {
        await world.load.run(transfers, (index) => ({
            method: "POST",
            path: "/v1/transfers",
            body: { contract_address: collection, from_address: from, to_address: to, token_id: index + 1 },
        }));
        await world.untilCompleted("transfer", transfers);
    });
}
/** The rate and the use of resources while `work` brings about some requests. */
export async function measure(world, requests, work) {
    const [before, nodeBefore] = [await world.usage(), await world.nodeCpuMs()];
    const started = performance.now();
    await work();
    const rate = (requests * 1000) / (performance.now() - started);
    const [after, nodeAfter] = [await world.usage(), await world.nodeCpuMs()];
    const nodeCpuMs = nodeBefore === null || nodeAfter === null ? null : (nodeAfter - nodeBefore) / requests;
    return { rate, usage: { ...usagePerRequest(before, after, requests), nodeCpuMs } };
}
/** Profiles every process of the service while it does some work, and prints where its time went. */
export async function profileAll({ processes }, folder, name, work) {
    if (folder === null)
        return;
    const fileOf = (index) => profileAt(folder, processes.length === 1 ? name : `${name}-${(index + 1).toString()}`);
    const profiled = processes.reduceRight((inner, { instruments }, index) => () => profile(instruments, fileOf(index), inner), work);
    await profiled();
}
