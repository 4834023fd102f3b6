import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { createRequire } from "node:module";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { obey } from "../../scene/obey.ts";
import { workersProfile } from "./profile.ts";
import { sumOf } from "./usage.ts";
const counts = { reads: 0, writes: 0, transactionControl: 0, prepared: 0, rpcCalls: 0, rpcExchanges: 0 };
const byMethod = {};
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
function count(source) {
    const verb = /^\s*(\w+)/.exec(source)?.[1]?.toLowerCase() ?? "";
    if (verb === "insert" || verb === "update" || verb === "delete")
        counts.writes++;
    else if (verb === "select" || verb === "with")
        counts.reads++;
    else
        counts.transactionControl++;
}
function countStatements() {
    const Sqlite = createRequire(import.meta.url)("better-sqlite3");
    const { prepare } = Sqlite.prototype;
    const wrapped = new WeakSet();
    Reflect.set(Sqlite.prototype, "prepare", function (source) {
        const statement = prepare.call(this, source);
        counts.prepared++;
        const prototype = Object.getPrototypeOf(statement);
        if (!wrapped.has(prototype)) {
            wrapped.add(prototype);
            for (const name of ["run", "get", "all", "iterate"]) {
                const original = prototype[name];
                Reflect.set(prototype, name, function (...args) {
                    count(this.source);
                    return original.apply(this, args);
                });
            }
        }
        return statement;
    });
}
/** What `pg` calls when a client runs a statement: a text, or an object with a text and parameters. */
function countPostgresStatements() {
    const { Client } = createRequire(import.meta.url)("pg");
    const { query } = Client.prototype;
    Client.prototype.query = function (...args) {
        const [first] = args;
        const text = typeof first === "string" ? first : first?.text;
        if (text !== undefined)
            count(text);
        return query.apply(this, args);
    };
}
/** The service speaks JSON-RPC with `fetch`, and nothing else. */
function countRpcCalls() {
    const original = globalThis.fetch;
    globalThis.fetch = (input, init) => {
        if (typeof init?.body === "string" && init.body.includes('"jsonrpc"')) {
            counts.rpcExchanges++;
            for (const [, method = ""] of init.body.matchAll(/"method":"(\w+)"/g)) {
                counts.rpcCalls++;
                byMethod[method] = (byMethod[method] ?? 0) + 1;
            }
        }
        return original(input, init);
    };
}
function usage() {
    const { user, system } = process.cpuUsage();
    const measured = {
        ...counts,
        rpcByMethod: { ...byMethod },
        cpuMs: (user + system) / 1000,
        loopDelayMaxMs: delay.max / 1e6,
        loopDelayP99Ms: delay.percentile(99) / 1e6,
        workersDelayMaxMs: null,
    };
    delay.reset();
    return measured;
}
const profiler = new Session();
async function startProfile() {
    profiler.connect();
    await profiler.post("Profiler.enable");
    await profiler.post("Profiler.start");
}
async function writeProfile(file) {
    const { profile } = await profiler.post("Profiler.stop");
    profiler.disconnect();
    writeFileSync(file, JSON.stringify(profile));
}
async function carryOut(order) {
    if ("usage" in order)
        return usage();
    if ("startProfile" in order)
        await startProfile();
    else
        await writeProfile(isMainThread ? order.writeProfile : workersProfile(order.writeProfile));
    return "done";
}
countStatements();
countPostgresStatements();
countRpcCalls();
obey(carryOut, (main, other) => (main === "done" || other === "done" ? main : sumOf(main, other)));
