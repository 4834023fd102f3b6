import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "../../../api/store/db/database.ts";
import { profile, profileAt } from "../harness/profile.ts";
import { World } from "../harness/world.ts";
import { copyFacts, fill, removeDatabase } from "./fill/fill.ts";
import { BATCH_SIZE, BLOCKS, Shape } from "./shape.ts";
import { Side } from "./side.ts";
import { percentile, startUp } from "./start-up.ts";
/** What is asked of the largest database, compared with the smallest one. */
const GOAL = { atMost: 1.3 };
/** How often to look whether the indexer is at the head, in milliseconds. */
const LOOK = 50;
/** Longest wait for that, in milliseconds. */
const SETTLED_WITHIN = 30_000;
/** Tables that grow with each token. The others grow with each request. */
const OF_TOKENS = ["nfts", "holdings", "transfers", "wallet_history", "collections", "counters"];
const OF_REQUESTS = ["requests", "events", "batches", "attempts"];
const FULL = { sizes: [1_000, 100_000, 1_000_000], rounds: 2_000, warmUp: 50, within: 240_000, startUps: 5 };
const QUICK = { sizes: [1_000, 20_000], rounds: 100, warmUp: 10, within: 3_000, startUps: 1 };
/**
 * How the time of an answer grows with the database: the service on databases of several sizes, side by side. The calls go to
 * the sizes in turns, so that a slow moment of the machine affects all. Also the bytes on disk, and the start of the service.
 */
export const reading = {
    name: "reading",
    measure: (options) => run(options, options.quick ? QUICK : FULL),
    run,
};
async function run({ databases, profiles }, plan) {
    const shapes = plan.sizes.map((tokens) => new Shape(tokens));
    const world = await World.start({ databases });
    const made = [];
    const newDatabase = async (name) => {
        const folder = join(world.folder, name);
        await mkdir(folder);
        const url = await databases.create(folder);
        made.push(url);
        return url;
    };
    try {
        const facts = await prepare(world, Math.max(...plan.sizes) / BATCH_SIZE);
        const rows = [];
        const sides = [];
        try {
            for (const shape of shapes) {
                const url = await newDatabase(shape.tokens.toString());
                await copyFacts(world.env.DATABASE_URL, url, facts.nonce);
                const started = performance.now();
                const sizes = await fill(url, shape, facts);
                const seconds = (performance.now() - started) / 1000;
                console.error(`made ${shape.tokens.toLocaleString("en")} tokens in ${seconds.toFixed(1)} s`);
                if (shape === shapes.at(-1))
                    rows.push(...onDisk(sizes, shape));
                sides.push(await Side.start(world, url, shape));
            }
            await readInTurns(sides, plan);
            rows.unshift(...compared(sides));
            await profileLargest(sides, profiles);
        }
        finally {
            await Promise.all(sides.map((side) => side.stop()));
        }
        const empty = await newDatabase("empty");
        await copyFacts(world.env.DATABASE_URL, empty, facts.nonce);
        const full = made[shapes.length - 1];
        if (full === undefined)
            throw new Error("no database was made");
        rows.push(await startUp(world, { empty, full }, { turns: plan.startUps, requests: Math.max(...plan.sizes) }));
        return rows;
    }
    finally {
        for (const url of made)
            await removeDatabase(url);
        await world.stop();
    }
}
/** Lets the chain have as many blocks and transactions as the rows say. The service then stops: the databases are copies. */
async function prepare(world, nonce) {
    const { provider } = world.node;
    const database = await openDatabase(world.env.DATABASE_URL);
    try {
        const { read } = database;
        for (let block = 0; block < BLOCKS; block++)
            await provider.send("evm_mine", []);
        const head = await provider.getBlockNumber();
        const confirmed = read.selectFrom("meta").select("value").where("key", "=", "confirmed_block");
        const deadline = performance.now() + SETTLED_WITHIN;
        while (Number((await confirmed.executeTakeFirst())?.value ?? 0) < head) {
            if (performance.now() > deadline)
                throw new Error("the indexer does not reach the newest block");
            await wait(LOOK);
        }
        const { address } = await read
            .selectFrom("lanes")
            .select("address")
            .where("lane", "=", 0)
            .executeTakeFirstOrThrow();
        await provider.send("hardhat_setNonce", [address, `0x${nonce.toString(16)}`]);
        const { id } = await read.selectFrom("apps").select("id").executeTakeFirstOrThrow();
        await world.stopProcesses();
        return { app: id, nonce };
    }
    finally {
        await database.close();
    }
}
async function readInTurns(sides, { rounds, warmUp, within }) {
    const readings = sides[0]?.readings ?? [];
    let deadline = Infinity;
    for (let round = -warmUp; round < rounds && performance.now() < deadline; round++) {
        if (round === 0)
            deadline = performance.now() + within;
        for (const index of readings.keys()) {
            for (const [place] of sides.entries()) {
                // Another one is the first in each round.
                const side = sides[(place + round + warmUp) % sides.length];
                const ms = await side?.read(index);
                if (round >= 0 && ms !== undefined)
                    side?.times[index]?.push(ms);
            }
        }
    }
}
/** Each larger size beside the smallest one. */
function compared(sides) {
    const [small, ...larger] = sides;
    if (small === undefined)
        return [];
    const rowsOf = (part) => larger.toReversed().flatMap((side) => small.readings.map(({ what }, index) => {
        const [measured = [], baseline = []] = [side.times[index], small.times[index]];
        const name = part === 0.5 ? "median" : "p99";
        return {
            what: `${what}, ${side.shape.tokens.toLocaleString("en")} tokens, ${name} of ${measured.length.toString()}`,
            unit: "ms",
            measured: percentile(measured, part),
            baseline: {
                what: `${small.shape.tokens.toLocaleString("en")} tokens`,
                measured: percentile(baseline, part),
            },
            goal: part === 0.99 && side === sides.at(-1) ? GOAL : null,
        };
    }));
    return [...rowsOf(0.99), ...rowsOf(0.5)];
}
function onDisk(sizes, { tokens }) {
    const row = (what, tables) => ({
        what,
        unit: "MB",
        measured: tables.reduce((sum, table) => sum + (sizes.get(table) ?? 0), 0) / tokens,
        baseline: null,
        goal: null,
    });
    return [
        row("disk for a million tokens, with holdings, history and totals", OF_TOKENS),
        row("disk for a million requests, with two events each, pruned", OF_REQUESTS),
    ];
}
async function profileLargest(sides, profiles) {
    const side = sides.at(-1);
    if (side === undefined || profiles === null)
        return;
    const file = profileAt(profiles, "reading");
    await profile(side.process.instruments, file, async () => {
        for (let round = 0; round < 200; round++)
            for (const index of side.readings.keys())
                await side.read(index);
    });
}
