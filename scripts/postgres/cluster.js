import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
/** The superuser of each cluster. */
export const USER = "moneta";
const ON_LOOPBACK = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
`;
/**
 * A server for tests loses its data with the run, so nothing waits for the disk. A commit survives a crash of the server,
 * but not one of the machine. Time zone and isolation level are unusual
 * on purpose: the service must not depend on the defaults of a server.
 */
const FOR_TESTS = `
shared_buffers = 64MB
fsync = off
synchronous_commit = on
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 256MB
jit = off
log_min_messages = log
lc_messages = 'C'
timezone = 'Asia/Kathmandu'
default_transaction_isolation = 'repeatable read'
`;
/**
 * Creates a cluster in a new folder. The order of text is that of a language, not that of its bytes, as on most servers.
 * @param durable whether the server is set up as PostgreSQL sets it up: each commit waits for the disk. For benchmarks.
 */
export function createCluster(programs, durable = false) {
    const owner = process.getuid?.() === 0 ? nobody() : null;
    const folder = mkdtempSync(join(tmpdir(), "moneta-postgres-"));
    try {
        const password = randomBytes(16).toString("hex");
        const passwordFile = join(folder, "password");
        writeFileSync(passwordFile, password, { mode: 0o600 });
        if (owner !== null)
            for (const path of [folder, passwordFile])
                chownSync(path, owner.uid, owner.gid);
        const bin = runnable(programs.folder, folder, owner);
        const data = join(folder, "data");
        const options = ["-D", data, "-U", USER, "--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--no-sync"];
        const order = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
        execFileSync(join(bin, "initdb"), [...options, ...order], { ...owner, cwd: folder, stdio: "pipe" });
        appendFileSync(join(data, "postgresql.conf"), durable ? ON_LOOPBACK : ON_LOOPBACK + FOR_TESTS);
        return { folder, data, postgres: join(bin, "postgres"), owner, password };
    }
    catch (error) {
        rmSync(folder, { recursive: true, force: true });
        throw owner === null ? error : explained(error, folder);
    }
}
/** PostgreSQL and PgBouncer refuse to run as root. The user that owns nothing exists on every system. */
export function nobody() {
    const id = (option) => Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
    return { uid: id("-u"), gid: id("-g") };
}
/** The folder of the programs, or a copy of them when they are in a folder that their user must not enter. */
function runnable(bin, folder, owner) {
    const tried = spawnSync(join(bin, "postgres"), ["--version"], { ...owner, cwd: folder });
    if (tried.error === undefined || !("code" in tried.error) || tried.error.code !== "EACCES")
        return bin;
    const copy = join(folder, "programs");
    cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
    return join(copy, "bin");
}
function explained(error, folder) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = `PostgreSQL refuses to run as root, so its server runs as the user "nobody", who must be able to enter ${dirname(folder)}. Set TMPDIR to a folder that everybody may enter.`;
    return new Error(`${reason}\n${hint}`, { cause: error });
}
