import { existsSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
/** The file of a profile in a folder; null without a folder. */
export function profileAt(folder, name) {
    return folder === null ? null : join(folder, `${name}.cpuprofile`);
}
/** Profiles a process while it does some work, and prints where its time went: first of HTTP, then of the workers. */
export async function profile(instruments, file, work) {
    if (file === null)
        return;
    await instruments.startProfile();
    await work();
    await instruments.writeProfile(file);
    for (const each of [file, workersProfile(file)].filter((name) => existsSync(name))) {
        console.error(`\n${each}`);
        for (const { where, percent } of costsOf(each).filter((cost) => cost.percent >= 0.5)) {
            console.error(`  ${percent.toFixed(1).padStart(5)} %  ${where}`);
        }
    }
}
/** Where the thread of the background workers writes its profile. */
export function workersProfile(file) {
    return file.replace(/\.cpuprofile$/, "-workers.cpuprofile");
}
/** The self time of each package and folder in a CPU profile (V8's format), the most expensive one first. */
function costsOf(file) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8"));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, byId.get(id)])));
    const places = new Map(nodes.map((node) => [node.id, placeOf(node, callers.get(node.id))]));
    const times = new Map();
    let busy = 0;
    for (const [index, id] of samples.entries()) {
        const place = places.get(id) ?? "unknown";
        if (place === "(idle)" || place === "node:inspector")
            continue;
        const time = timeDeltas[index] ?? 0;
        busy += time;
        times.set(place, (times.get(place) ?? 0) + time);
    }
    return [...times]
        .map(([where, time]) => ({ where, percent: (100 * time) / busy }))
        .sort((one, other) => other.percent - one.percent);
}
/**
 * A package, a folder of the service, a module of Node, or V8's own name for its work. A built-in function counts where it
 * is called. The calls of SQLite go through `preload.ts`.
 */
function placeOf({ callFrame: { functionName: name, url } }, caller) {
    if (url === "")
        return name.startsWith("(") || caller === undefined ? name : placeOf(caller, undefined);
    if (url.startsWith("node:"))
        return url.split("/")[0] ?? url;
    if (url.startsWith("wasm:"))
        return "WebAssembly";
    const parts = url.replaceAll(sep, "/").split("/");
    const packages = parts.lastIndexOf("node_modules");
    if (packages >= 0)
        return parts.slice(packages + 1, packages + (parts[packages + 1]?.startsWith("@") ? 3 : 2)).join("/");
    const api = parts.lastIndexOf("api");
    return api >= 0 ? parts.slice(api, api + 2).join("/") : "SQLite";
}
