import { stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { Checker } from "./check.ts";
import { Load } from "./load.ts";
import { isClean } from "./report.ts";
const SECOND = 1_000;
const MIB = 2 ** 20;
/** Requests per second. */
const RATE = 20;
/** Milliseconds after which an open request is late. */
const LATE = 30 * SECOND;
/** A steady load without faults. It finds leaks and slow growth. Prints a line each minute. @returns whether it passed. */
export async function soak(world, minutes) {
    const load = new Load(world);
    const checker = new Checker(world);
    const accepted = [];
    const seconds = new Set();
    const report = [];
    const started = performance.now();
    for (let second = 0; second < minutes * 60; second++) {
        const run = load
            .run(RATE)
            .then((more) => {
            accepted.push(...more);
        })
            .finally(() => seconds.delete(run));
        seconds.add(run);
        await wait(Math.max(0, started + (second + 1) * SECOND - performance.now()));
        if (seconds.size > LATE / SECOND)
            throw new Error(`the service accepts fewer than ${RATE.toString()} requests per second`);
        if (second % 5 === 0)
            load.setKnownTokens(await checker.knownTokens());
        if ((second + 1) % 60 === 0) {
            const minute = await measure(world, accepted.length);
            report.push(minute);
            console.log(describe(report.length, minute));
        }
    }
    await Promise.all(seconds);
    const result = await checker.check(accepted);
    const missing = await checker.missingWebhooks();
    console.log(JSON.stringify(result));
    const problems = [...missing, ...growth(report)];
    for (const problem of problems)
        console.log(problem);
    return problems.length === 0 && isClean(result);
}
async function measure(world, requests) {
    const { heapUsed: heap, rss: resident } = await world.sqlite.process.memory();
    const database = new BetterSqlite3(world.sqlite.file, { readonly: true });
    try {
        const now = Date.now();
        const waits = database
            .prepare("select updated_at - created_at ms from requests where status in ('completed', 'failed') and updated_at > ? order by ms")
            .all(now - 60 * SECOND);
        const late = database
            .prepare("select count(*) n from requests where status in ('pending', 'processing') and created_at < ?")
            .get(now - LATE);
        const checkpoint = database.prepare("select value from meta where key = 'checkpoint'").get();
        return {
            requests,
            heap,
            resident,
            database: (await stat(world.sqlite.file)).size,
            latency: waits[Math.floor(waits.length * 0.95)]?.ms ?? 0,
            late: late?.n ?? 0,
            blocksBehind: (await world.node.provider.getBlockNumber()) - Number(checkpoint?.value ?? 0),
        };
    }
    finally {
        database.close();
    }
}
function describe(number, minute) {
    return (`minute ${number.toString()}: ${minute.requests.toString()} requests, ${mebibytes(minute.heap)} MiB heap ` +
        `(${mebibytes(minute.resident)} MiB resident), database ${mebibytes(minute.database)} MiB, ` +
        `95 % final within ${(minute.latency / SECOND).toFixed(1)} s, ${minute.late.toString()} late, ` +
        `${minute.blocksBehind.toString()} blocks behind`);
}
function mebibytes(bytes) {
    return (bytes / MIB).toFixed(0);
}
/** Memory, time until final, disk per request and indexing lag must not have grown from the first third to the last. */
function growth(report) {
    const third = Math.floor(report.length / 3);
    const problems = report.flatMap(({ late }, index) => late > 0 ? [`${late.toString()} requests were late in minute ${(index + 1).toString()}`] : []);
    if (third === 0)
        return problems;
    const [first, last] = [report.slice(0, third), report.slice(-third)];
    const check = (what, of, slack, unit, scale) => {
        const [before, after] = [of(first), of(last)];
        const comparison = `${what}: ${(before / scale).toFixed(1)} ${unit} in the first third, ${(after / scale).toFixed(1)} in the last`;
        console.log(comparison);
        if (after > before * 1.25 + slack)
            problems.push(`too much growth: ${comparison}`);
    };
    check("heap in use", (minutes) => median(minutes.map(({ heap }) => heap)), 8 * MIB, "MiB", MIB);
    check("time until final", (minutes) => median(minutes.map(({ latency }) => latency)), SECOND, "s", SECOND);
    check("disk per request", diskPerRequest, 0, "KiB", 1024);
    check("blocks behind", (minutes) => median(minutes.map(({ blocksBehind }) => blocksBehind)), 3, "blocks", 1);
    return problems;
}
function diskPerRequest(minutes) {
    const [from, to] = [minutes[0], minutes.at(-1)];
    if (from === undefined || to === undefined || to.requests === from.requests)
        return 0;
    return (to.database - from.database) / (to.requests - from.requests);
}
function median(values) {
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
