import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
const MEMORY = "/dev/shm";
/** Free space and free memory that it needs, in bytes. The tests of the long tier have up to 1.3 GiB there at the same time. */
const ROOM = 4 * 2 ** 30;
const FREE = 8 * 2 ** 30;
const NAME = /^moneta-tests-(\d+)-/;
/**
 * A folder in memory for what the tests of this run write. Their databases write to the disk with each commit, and most tests wait
 * for that: without it a run takes three quarters of the time.
 * @returns null where there is no such place, or not enough memory. Then the tests use the folder for temporary files.
 */
export function memoryFolder() {
    if (!existsSync(MEMORY))
        return null;
    for (const name of readdirSync(MEMORY)) {
        const pid = NAME.exec(name)?.[1];
        if (pid !== undefined && !runs(Number(pid)))
            rmSync(join(MEMORY, name), { recursive: true, force: true });
    }
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ROOM || freemem() < FREE)
        return null;
    const path = mkdtempSync(join(MEMORY, `moneta-tests-${process.pid.toString()}-`));
    // PostgreSQL, which does not run as root, must be able to enter it.
    chmodSync(path, 0o755);
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
/** Whether a process runs. The folder of one that was killed is still there. */
function runs(pid) {
    return existsSync(`/proc/${pid.toString()}`);
}
