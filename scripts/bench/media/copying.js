import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../harness/row.ts";
import { Child } from "./child.ts";
import { MIB } from "./content.ts";
/** Limit for the resident memory of the process that copies. */
const LIMIT_MIB = 400;
const SIZE = 200 * MIB;
/** How often one file is copied (the figure is the median), and how many are copied at once: together more than the limit. */
const FULL = { times: 3, atOnce: 20 };
const QUICK = { times: 1, atOnce: 4 };
/**
 * Copies media from a server into the block store, reads them back, then makes many such copies at once. `MEDIA_STORE` names
 * the place, as for the service. Only the process that copies is measured; the server is another one.
 */
export const copying = { name: "copying", measure: run };
async function run({ quick, databases }) {
    const folder = await mkdtemp(join(tmpdir(), "moneta-bench-"));
    const databaseUrl = await databases.create(folder);
    const origin = new Child(join(import.meta.dirname, "origin.ts"), [SIZE.toString()]);
    const copier = new Child(join(import.meta.dirname, "copier.ts"), [folder, databaseUrl, SIZE.toString()]);
    const bare = new Child(join(import.meta.dirname, "bare.ts"), [folder]);
    try {
        const server = `http://127.0.0.1:${(await origin.ask("port")).toString()}`;
        return await copyAll({ copier, bare, server, ...(quick ? QUICK : FULL) });
    }
    finally {
        for (const child of [copier, bare, origin])
            await child.stop();
        await rm(folder, { recursive: true, force: true });
    }
}
async function copyAll({ copier, bare, server, times: rounds, atOnce }) {
    const ours = (order) => copier.ask(order);
    const theirs = (order) => bare.ask(order);
    const before = await copier.ask({ peak: true });
    const times = { write: [], bareWrite: [], read: [], bareRead: [] };
    for (let index = 0; index < rounds; index++) {
        const url = `${server}/one-${index.toString()}`;
        const { seconds, cids } = await ours({ copy: [url] });
        times.write.push(seconds);
        times.bareWrite.push((await theirs({ copy: [url] })).seconds);
        times.read.push((await ours({ read: cids[0] ?? "", bytes: SIZE })).seconds);
        times.bareRead.push((await theirs({ read: true })).seconds);
        await theirs({ remove: 1 });
    }
    const urls = Array.from({ length: atOnce }, (_, index) => `${server}/many-${index.toString()}`);
    const many = await ours({ copy: urls });
    const bareMany = await theirs({ copy: urls });
    await theirs({ remove: atOnce });
    const peak = await copier.ask({ peak: true });
    const label = `${(SIZE / MIB).toString()} MiB`;
    const rate = (seconds, files = 1) => (files * SIZE) / MIB / seconds;
    const file = "the same bytes to a file, with SHA-256 and fsync";
    return [
        row(`media copied, ${label}`, rate(median(times.write)), file, rate(median(times.bareWrite))),
        row(`media read, ${label}`, rate(median(times.read)), "the same bytes from a file", rate(median(times.bareRead))),
        row(`media copied, ${atOnce.toString()} x ${label} at once`, rate(many.seconds, atOnce), file, rate(bareMany.seconds, atOnce)),
        {
            what: "largest memory of the process that copies",
            unit: "MiB",
            measured: peak,
            goal: { atMost: LIMIT_MIB },
            required: true,
            note: `${before.toString()} MiB before the first copy.`,
        },
    ];
}
function row(what, measured, baseline, bare) {
    return { what, unit: "MiB/s", measured, baseline: { what: baseline, measured: bare } };
}
