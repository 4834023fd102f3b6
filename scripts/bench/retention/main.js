import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { DEFAULT_RETENTION } from "../../../api/config/variables.ts";
import { prune } from "../../../api/operate/prune.ts";
import { WebhookReceiver } from "../../scene/receiver.ts";
import { withDatabase } from "../../scene/scene.ts";
import { sqliteFiles, startPostgres } from "../harness/databases.ts";
import { World } from "../harness/world.ts";
import { compactAndMeasure } from "../harness/sizes.ts";
/**
 * `npm run bench:retention`: mints tokens with metadata, a webhook and idempotency keys, lets forty days pass, and prunes. It
 * prints what a request takes in the database before and after, table by table, and how long the steps took. `--engine postgres`
 * measures PostgreSQL, in a server of its own. `--requests N` makes more requests.
 */
const DAY = 86_400_000;
const DAYS = 40;
/** More than the headers that are stored: a reorg cannot reach the mints any more. */
const BLOCKS = 300;
/** Mints that are sent before their end is waited for. */
const WAVE = 400;
/** How often to look, in milliseconds. */
const LOOK = 200;
/** With this, idempotency keys are pruned, too. */
const WITH_KEYS = { ...DEFAULT_RETENTION, idempotency_keys: 30 };
const METADATA = {
    description: "One of many tokens that are minted to measure what a request takes.",
    image: "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/1.png",
    attributes: [{ trait_type: "Colour", value: "green" }],
};
async function mintAll(world, count) {
    const receiver = await WebhookReceiver.listen();
    try {
        const { load } = world;
        await load.send({ method: "PUT", path: "/v1/webhook", body: { url: receiver.url } });
        const [collection_address, to_address] = [await world.collection({ description: "Hosted" }), await world.wallet()];
        for (let sent = 0; sent < count; sent += WAVE) {
            const size = Math.min(WAVE, count - sent);
            await load.run(size, (index) => ({
                method: "POST",
                path: "/v1/nfts",
                body: { collection_address, to_address, name: `Token ${(sent + index).toString()}`, ...METADATA },
                headers: { "idempotency-key": `order-${(sent + index).toString()}` },
            }));
            await world.untilCompleted("mint", sent + size);
        }
        await withDatabase(world.env.DATABASE_URL, async ({ read }) => {
            const waiting = read.selectFrom("deliveries").select("seq").where("next_at", "is not", null).limit(1);
            while ((await waiting.execute()).length > 0)
                await wait(LOOK);
        });
    }
    finally {
        await receiver.close();
    }
}
async function letTimePass(world) {
    const { node } = world;
    await node.provider.send("evm_increaseTime", [DAYS * 86_400]);
    for (let block = 0; block < BLOCKS; block++)
        await node.mine();
    const head = await node.head();
    await withDatabase(world.env.DATABASE_URL, async ({ read }) => {
        const checkpoint = read.selectFrom("meta").select("value").where("key", "=", "checkpoint");
        while (Number((await checkpoint.executeTakeFirstOrThrow()).value) < head)
            await wait(LOOK);
    });
}
/** @returns what the steps removed, and how long they took, in milliseconds. */
async function pruneAll(world, retain) {
    return withDatabase(world.env.DATABASE_URL, async (database) => {
        const sum = { rows: 0, bytes: 0, steps: [] };
        const timed = {
            ...database,
            write: async (operation) => {
                const started = performance.now();
                const result = await database.write(operation);
                sum.steps.push(performance.now() - started);
                return result;
            },
        };
        const now = () => Date.now() + DAYS * DAY;
        const logger = pino({ level: "error" }, pino.destination(2));
        await prune({ database: timed, retain, logger, now }, new AbortController().signal, (_kind, { rows, bytes }) => {
            sum.rows += rows;
            sum.bytes += bytes;
        });
        return sum;
    });
}
/** Tables that take less for each request are shown together. */
const SMALL = 20;
function report(count, columns) {
    const all = Object.values(columns);
    const [first = new Map()] = all;
    const perRequest = (sizes, names) => Math.round(names.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0) / count);
    const names = [...first.keys()].sort((one, other) => (first.get(other) ?? 0) - (first.get(one) ?? 0));
    const isLarge = (name) => perRequest(first, [name]) >= SMALL;
    const lines = [
        ...names.filter(isLarge).map((name) => [name, [name]]),
        ["other tables", names.filter((name) => !isLarge(name))],
        ["**all**", names],
    ];
    console.log(`\n| Bytes per request | ${Object.keys(columns).join(" | ")} |`);
    console.log(`|---|${all.map(() => "---:|").join("")}`);
    for (const [label, tables] of lines) {
        const figures = all.map((sizes) => perRequest(sizes, tables).toLocaleString("en"));
        console.log(`| ${label} | ${figures.join(" | ")} |`);
    }
}
const { values } = parseArgs({
    options: { engine: { type: "string", default: "sqlite" }, requests: { type: "string", default: "2000" } },
});
const count = Number(values.requests);
if (!["sqlite", "postgres"].includes(values.engine) || !Number.isInteger(count) || count < 1) {
    console.error("Usage: npm run bench:retention -- [--engine sqlite|postgres] [--requests N]");
    process.exit(2);
}
const server = values.engine === "postgres" ? await startPostgres() : null;
try {
    const world = await World.start({ databases: server ?? sqliteFiles });
    try {
        console.error(`minting ${count.toString()} tokens ...`);
        await mintAll(world, count);
        await letTimePass(world);
        await world.stopProcesses();
        const url = world.env.DATABASE_URL;
        const columns = { "nothing pruned": await compactAndMeasure(url) };
        for (const [head, retain] of Object.entries({
            "pruned (defaults)": DEFAULT_RETENTION,
            "keys pruned, too": WITH_KEYS,
        })) {
            const { rows, bytes, steps } = await pruneAll(world, retain);
            columns[head] = await compactAndMeasure(url);
            const longest = Math.max(...steps).toFixed(0);
            const mean = (steps.reduce((sum, step) => sum + step, 0) / steps.length).toFixed(1);
            console.log(`${head}: ${rows.toString()} rows, about ${bytes.toString()} bytes, in ${steps.length.toString()} steps of ${mean} ms on average, ${longest} ms at most`);
        }
        report(count, columns);
    }
    finally {
        await world.stop();
    }
}
finally {
    await server?.stop();
}
