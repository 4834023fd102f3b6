import { randomInt } from "node:crypto";
import { createServer } from "node:net";
/** Lets the server listen on a free port of this machine. @returns its URL, and how to stop it. */
export async function listenOnLoopback(server) {
    await new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(0, "127.0.0.1", resolve);
    });
    // Clients close idle connections themselves. If the server did, a busy client could use one at that moment.
    if ("keepAliveTimeout" in server)
        server.keepAliveTimeout = 0;
    const { port } = server.address();
    return {
        url: `http://127.0.0.1:${port.toString()}`,
        port,
        stop: () => new Promise((resolve) => {
            server.close(() => {
                resolve();
            });
            // Clients keep connections open between calls.
            if ("closeAllConnections" in server)
                server.closeAllConnections();
        }),
    };
}
/**
 * Operating systems take the ports of outgoing connections, and of servers that name none, from above this range. A port from
 * there may be taken before the server that it is for listens, or while that server restarts.
 */
const [FIRST, LAST] = [15_000, 31_999];
/** Ports that this process has chosen. Their servers may not listen yet. */
const chosen = new Set();
/** A loopback port that is free, and that nobody takes who has not chosen it. */
export async function freePort() {
    for (;;) {
        const port = randomInt(FIRST, LAST + 1);
        if (chosen.has(port) || !(await isFree(port)))
            continue;
        chosen.add(port);
        return port;
    }
}
function isFree(port) {
    return new Promise((resolve, reject) => {
        const probe = createServer();
        probe.once("error", (error) => {
            // Some systems reserve ranges of ports.
            if (error.code === "EADDRINUSE" || error.code === "EACCES")
                resolve(false);
            else
                reject(error);
        });
        probe.listen(port, "127.0.0.1", () => {
            probe.close(() => {
                resolve(true);
            });
        });
    });
}
