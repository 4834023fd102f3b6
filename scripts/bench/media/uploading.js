import { once } from "node:events";
import { request as open } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { World } from "../harness/world.ts";
import { residentOf, resetPeak } from "../memory/resident.ts";
import { Child } from "./child.ts";
import { bytesOf, MIB } from "./content.ts";
/** As many as one app may send at once. */
const AT_ONCE = 8;
/** How much the peak may lie above the memory before the first upload, in MiB: for one upload, and for several. */
const LIMITS = { one: 150, several: 300 };
/**
 * Uploads media to a service in a process of its own: one file, then several at once. `MEDIA_STORE` names the place, as for
 * the service. The memory is read from /proc, so that needs Linux.
 */
export const uploading = { name: "uploading", measure: run };
async function run({ quick, databases }) {
    const size = (quick ? 20 : 200) * MIB;
    const atOnce = quick ? 4 : AT_ONCE;
    const settings = { MAX_MEDIA_BYTES: size.toString(), MEDIA_STORE: process.env["MEDIA_STORE"] ?? "files" };
    const world = await World.start({ databases, settings });
    const bare = new Child(join(import.meta.dirname, "bare.ts"), [world.folder]);
    try {
        const port = await bare.ask({ port: true });
        const ours = { url: `${world.urls[0] ?? ""}/v1/media`, token: world.token, size };
        const theirs = { url: `http://127.0.0.1:${port.toString()}/`, token: "", size };
        const pid = world.processes[0]?.pid ?? 0;
        const before = await memory(pid, "now");
        const one = await measure(pid, ours, ["one"]);
        const bareOne = await measure(null, theirs, ["one"]);
        const names = Array.from({ length: atOnce }, (_, index) => `many-${index.toString()}`);
        const several = await measure(pid, ours, names);
        const bareSeveral = await measure(null, theirs, names);
        const label = `${(size / MIB).toString()} MiB`;
        const many = `${atOnce.toString()} x ${label} at once`;
        return [
            rateRow(`media uploaded, ${label}`, one, bareOne),
            rateRow(`media uploaded, ${many}`, several, bareSeveral),
            memoryRow(`memory that an upload of ${label} adds`, one.peak, before, LIMITS.one),
            memoryRow(`memory that uploads of ${many} add`, several.peak, before, LIMITS.several),
        ];
    }
    finally {
        await bare.stop();
        await world.stop();
    }
}
/** Uploads all names at once. @param pid the process whose memory is measured. */
async function measure(pid, target, names) {
    if (pid !== null)
        await resetPeak(pid);
    const started = performance.now();
    await Promise.all(names.map((name) => upload(target, name)));
    const seconds = (performance.now() - started) / 1000;
    const peak = pid === null ? null : await memory(pid, "peak");
    return { rate: (names.length * target.size) / MIB / seconds, peak };
}
async function upload({ url, token, size }, name) {
    const call = open(url, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-length": size.toString() },
    });
    const answered = once(call, "response");
    await pipeline(Readable.from(bytesOf(name, size), { objectMode: true }), call);
    const [response] = await answered;
    const body = await text(response);
    if (response.statusCode !== 200 || JSON.parse(body).bytes !== size) {
        throw new Error(`The upload was answered with ${String(response.statusCode)}: ${body}`);
    }
}
function rateRow(what, { rate }, bare) {
    const baseline = { what: "the same upload to a file, with SHA-256 and fsync", measured: bare.rate };
    return { what, unit: "MiB/s", measured: rate, baseline };
}
function memoryRow(what, peak, before, limit) {
    const measured = peak === null || before === null ? null : peak - before;
    const note = before === null
        ? "Only Linux reports the memory of a process."
        : `${before.toString()} MiB before the first upload.`;
    return { what, unit: "MiB", measured, goal: { atMost: limit }, required: true, note };
}
/** Resident memory in MiB: now, or the peak. Null: the system does not report it. */
async function memory(pid, which) {
    const resident = await residentOf(pid);
    return resident === null ? null : Math.round(resident[which]);
}
