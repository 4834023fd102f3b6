import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { armCrashPoint } from "../../api/shared/crash-point.ts";
import { obey } from "../scene/obey.ts";
const connections = new Set();
const realNow = Date.now.bind(Date);
let offset = 0;
Date.now = () => realNow() + offset;
const Sqlite = createRequire(import.meta.url)("better-sqlite3");
const { prototype } = Sqlite;
const pragma = Reflect.get(prototype, "pragma");
// The service sets pragmas on every connection that it opens, so this sees all connections.
Reflect.set(prototype, "pragma", function (...args) {
    connections.add(this);
    return pragma.apply(this, args);
});
function carryOut(message) {
    if (message.clockOffset !== undefined)
        offset = message.clockOffset;
    if (message.disk !== undefined)
        setDisk(message.disk);
    if (message.crashPoint !== undefined)
        armCrashPoint(message.crashPoint);
    return message.measure === true ? measure() : { done: true };
}
// Each thread has its own clock, its own connections and its own heap.
obey(carryOut, (main, other) => "heapUsed" in main && "heapUsed" in other ? { ...main, heapUsed: main.heapUsed + other.heapUsed } : main);
function measure() {
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    return process.memoryUsage();
}
function setDisk(state) {
    for (const connection of connections) {
        if (connection.readonly || !connection.open)
            continue;
        const pages = Number(connection.pragma("page_count", { simple: true }));
        // SQLite then gives the same errors as on a full disk or a read-only one.
        connection.pragma(`max_page_count = ${(state === "full" ? pages : 1_073_741_823).toString()}`);
        connection.pragma(`query_only = ${state === "read-only" ? "1" : "0"}`);
    }
}
