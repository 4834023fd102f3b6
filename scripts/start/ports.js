import { once } from "node:events";
import { createServer } from "node:net";
import { codeOf, messageOf } from "./problem.ts";
/**
 * Checks that nobody listens on the port, before anything starts.
 * @param port 0: any free port.
 */
export async function checkPort(port) {
    try {
        const free = await listenOnce(port, "127.0.0.1");
        // `localhost` may mean this address too, and another program there would answer in our place.
        await listenOnce(free, "::1").catch((error) => {
            if (codeOf(error) === "EADDRINUSE")
                throw error;
        });
        return { port: free, problem: null };
    }
    catch (error) {
        return { port, problem: codeOf(error) === "EADDRINUSE" ? "is in use" : `cannot be used (${messageOf(error)})` };
    }
}
/** The next free port after this one, or any free port. @param except a port that is promised to somebody else. */
export async function nextFreePort(port, except) {
    for (let next = port + 1; next <= Math.min(port + 20, 65_535); next++) {
        if (next !== except && (await checkPort(next)).problem === null)
            return next;
    }
    return (await checkPort(0)).port;
}
async function listenOnce(port, host) {
    const server = createServer();
    server.listen(port, host);
    await once(server, "listening");
    const { port: taken } = server.address();
    server.close();
    await once(server, "close");
    return taken;
}
