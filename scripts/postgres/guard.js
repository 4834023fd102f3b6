import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { createCluster } from "./cluster.ts";
import { freePort } from "../scene/loopback.ts";
import { findPostgres } from "./programs.ts";
/** Another process may take the free port first. */
const START_TRIES = 5;
/** How much of the server's log is kept for a failure, in characters. */
const KEPT_LOG = 10_000;
const SIGNALS = { fast: "SIGINT", immediate: "SIGQUIT" };
/** Aborted when nobody needs the server any more. */
const unneeded = new AbortController();
for (const event of ["end", "error", "close"]) {
    process.stdin.once(event, () => {
        unneeded.abort();
    });
}
const restart = {
    wanted: false,
    /** Ends the server with a signal. */
    stop: (_signal) => undefined,
};
// Each line asks for a restart.
createInterface({ input: process.stdin }).on("line", (mode) => {
    restart.wanted = true;
    restart.stop(SIGNALS[mode]);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => {
        unneeded.abort();
    });
}
// The reader may be gone. Then stdin has ended too, and the server is stopped.
process.stdout.on("error", () => undefined);
/** @returns false when the server could not listen on the port, true when it is not needed any more or must start again. */
async function serve(port) {
    const server = spawn(cluster.postgres, ["-D", cluster.data, "-p", port.toString()], {
        ...cluster.owner,
        cwd: cluster.folder,
        // A terminal's Ctrl-C goes to a whole group of processes, and must not stop the server before its users.
        detached: true,
        stdio: ["ignore", "ignore", "pipe"],
    });
    const said = { log: "", isReady: false };
    server.stderr.on("data", (text) => {
        said.log = (said.log + text.toString()).slice(-KEPT_LOG);
        if (said.isReady || !said.log.includes("ready to accept connections"))
            return;
        said.isReady = true;
        process.stdout.write(`${JSON.stringify({ port, password: cluster.password })}\n`);
    });
    // SIGQUIT: at once. The data is removed, so there is nothing to save.
    const stop = () => server.kill("SIGQUIT");
    if (unneeded.signal.aborted)
        stop();
    unneeded.signal.addEventListener("abort", stop);
    restart.stop = (signal) => server.kill(signal);
    const [code] = (await once(server, "close"));
    unneeded.signal.removeEventListener("abort", stop);
    if (unneeded.signal.aborted || restart.wanted)
        return true;
    if (!said.isReady && said.log.includes("could not bind"))
        return false;
    throw new Error(`The PostgreSQL server ended with code ${String(code)}. The end of its log:\n${said.log}`);
}
const cluster = createCluster(findPostgres(), process.argv.includes("--durable"));
try {
    let tries = 0;
    let port = await freePort();
    for (;;) {
        if (!(await serve(port))) {
            if (++tries === START_TRIES)
                throw new Error("Another program took each free port before PostgreSQL did.");
            port = await freePort();
        }
        else if (!restart.wanted)
            break;
        // The clients know the port.
        restart.wanted = false;
    }
}
catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
}
finally {
    rmSync(cluster.folder, { recursive: true, force: true });
    process.stdin.destroy();
}
