import { setTimeout as wait } from "node:timers/promises";
import { request } from "undici";
import { Load } from "../harness/load.ts";
import { World } from "../harness/world.ts";
import { residentOf } from "./resident.ts";
const ITEMS = 1_000;
const STREAMS = 50;
const READERS = 16;
const IDLE_MS = 60_000;
/**
 * Resident memory of the service, one process with all roles: idle, and at most while mints, batches, pages and event streams
 * are asked for at the same time. Linux only. The service runs from its TypeScript sources, which adds the memory of the compiler.
 */
export const memory = { name: "memory", measure: run };
async function run({ quick, databases }) {
    const settings = {
        MAX_BACKLOG: "10000000",
        MAX_APP_EVENT_STREAMS: STREAMS.toString(),
        MAX_EVENT_STREAMS: "1000",
        MAX_ADDRESS_CONNECTIONS: "2000",
    };
    const world = await World.start({ databases, settings });
    try {
        const [service] = world.processes;
        if (service === undefined)
            throw new Error("the service runs as one process");
        const rows = [];
        const note = (what, mebibytes) => {
            if (mebibytes === undefined)
                console.error("memory is measured on Linux only");
            else
                rows.push({ what, unit: "MiB", measured: mebibytes });
        };
        note("memory, idle after the start", (await residentOf(service.pid))?.now);
        if (!quick) {
            await wait(IDLE_MS);
            note("memory, idle for a minute", (await residentOf(service.pid))?.now);
        }
        await putUnderLoad(world, quick ? { mints: 1_000, batches: 1 } : { mints: 10_000, batches: 10 });
        const loaded = await residentOf(service.pid);
        note("memory, at most under load", loaded?.peak);
        note("memory, right after the load", loaded?.now);
        return rows;
    }
    finally {
        await world.stop();
    }
}
/** Mints singly and in batches, until all are completed. Meanwhile it reads pages, and each of the streams gets every event. */
async function putUnderLoad(world, { mints, batches }) {
    const [to, collection] = [await world.wallet(), await world.collection()];
    const streams = await openStreams(world);
    const readers = new Load(world.urls, READERS, world.token);
    const done = new AbortController();
    const pages = ["/v1/requests?limit=30", `/v1/accounts/${to}`, "/v1/events"];
    const read = async (first) => {
        for (let next = first; !done.signal.aborted; next++)
            await readers.send({ method: "GET", path: pages[next % pages.length] ?? "" });
    };
    const mint = async () => {
        const body = { collection_address: collection, to_address: to };
        await Promise.all([
            world.load.run(mints, () => ({ method: "POST", path: "/v1/nfts", body })),
            sendBatches(world, body, batches),
        ]);
        await world.untilCompleted("mint", mints + batches * ITEMS);
    };
    try {
        await Promise.all([
            mint().finally(() => {
                done.abort();
            }),
            ...Array.from({ length: READERS }, (_, index) => read(index)),
        ]);
    }
    finally {
        done.abort();
        for (const stream of streams)
            stream.destroy();
        await readers.close();
    }
}
async function sendBatches(world, body, batches) {
    const items = Array.from({ length: ITEMS }, () => body);
    for (let sent = 0; sent < batches; sent++) {
        const call = { method: "POST", path: "/v1/nfts/batch", body: { items } };
        const { results } = await world.load.send(call);
        if (results.some(({ request_id: id }) => id === undefined))
            throw new Error("an item of a batch was refused");
    }
}
async function openStreams({ urls: [url = ""], token }) {
    return Promise.all(Array.from({ length: STREAMS }, async () => {
        const { statusCode, body } = await request(`${url}/v1/events`, {
            headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
            bodyTimeout: 0,
        });
        if (statusCode !== 200)
            throw new Error(`a stream was answered with ${statusCode.toString()}`);
        body.on("error", () => undefined).resume();
        return body;
    }));
}
