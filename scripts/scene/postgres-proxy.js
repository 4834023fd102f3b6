import { connect, createServer } from "node:net";
import { listenOnLoopback } from "./loopback.ts";
import { Random } from "./random.ts";
/** A message of PostgreSQL's protocol: a simple query (Q), its length, its text. */
const COMMIT = Buffer.from("Q\0\0\0\x0bcommit\0");
/** The name of a prepared statement with the text that follows where it is prepared. */
const PREPARED = /(m_[0-9a-f]{32})\0([^\0]*)/g;
/** A proxy between the service and a PostgreSQL server on loopback, which injects faults. */
export class PostgresProxy {
    #target;
    #random;
    #sockets = new Set();
    /** The clients' ends of connections that are open on both sides. */
    #open = new Set();
    #server = null;
    #fault = null;
    /** How many connections the current fault has affected. */
    injected = 0;
    constructor(target, random) {
        this.#target = target;
        this.#random = random;
    }
    /**
     * @param target port of the server.
     * @param judge decides for a connection, and then for each of its messages, what happens; by default the fault does.
     */
    static async start(target, random, judge) {
        const proxy = new PostgresProxy(target, random);
        const byFault = (message) => proxy.#judge(message);
        const server = createServer((client) => {
            proxy.#handle(client, judge?.() ?? byFault);
        });
        proxy.#server = await listenOnLoopback(server);
        return proxy;
    }
    get port() {
        return this.#server?.port ?? 0;
    }
    /** How many connections are open on both sides. */
    get connections() {
        return this.#open.size;
    }
    set fault(fault) {
        this.#fault = fault;
        this.injected = 0;
        if (fault?.kind === "stall") {
            this.injected = this.#open.size;
            for (const socket of this.#sockets)
                socket.pause();
        }
        else {
            for (const socket of this.#sockets)
                socket.resume();
        }
    }
    async stop() {
        for (const socket of this.#sockets)
            socket.destroy();
        await this.#server?.stop();
    }
    #handle(client, judge) {
        const server = connect(this.#target, "127.0.0.1");
        let verdict = "pass";
        this.#open.add(client);
        const end = () => {
            client.destroy();
            server.destroy();
        };
        for (const [socket, other] of [
            [client, server],
            [server, client],
        ]) {
            this.#sockets.add(socket);
            socket.setNoDelay(true);
            // Either side may end the connection in any way. Then the other side must notice, after the last message.
            socket.on("error", end);
            socket.on("close", () => {
                this.#sockets.delete(socket);
                this.#open.delete(client);
                other.end();
            });
        }
        client.on("data", (message) => {
            verdict = judge(message);
            if (verdict === "end")
                end();
            else
                server.write(message);
        });
        server.on("data", (message) => {
            if (typeof verdict === "string") {
                client.write(message);
                return;
            }
            // The server answers after it has committed.
            end();
            verdict.lose();
        });
        if (this.#fault?.kind === "stall")
            for (const socket of [client, server])
                socket.pause();
    }
    #judge(message) {
        const fault = this.#fault;
        if (fault === null || fault.kind === "stall" || !message.includes(COMMIT))
            return "pass";
        if (!this.#random.chance(fault.probability))
            return "pass";
        this.injected++;
        return fault.kind === "drop-before-commit" ? "end" : { lose: () => undefined };
    }
}
export async function startCommitProxy(databaseUrl) {
    const url = new URL(databaseUrl);
    let plan = null;
    /** The texts of prepared statements by their names. A text is sent once for each connection. */
    const texts = new Map();
    const runs = (sent, statement) => sent.includes(statement) ||
        [...sent.matchAll(PREPARED)].some(([, name = ""]) => texts.get(name)?.includes(statement));
    const judge = () => {
        let doomed = null;
        return (message) => {
            const sent = message.toString("latin1");
            for (const [, name = "", text = ""] of sent.matchAll(PREPARED)) {
                if (/^\s*\w+ /.test(text))
                    texts.set(name, text);
            }
            if (plan !== null && runs(sent, plan.statement))
                [doomed, plan] = [plan, null];
            return doomed !== null && message.includes(COMMIT) ? doomed : "pass";
        };
    };
    const proxy = await PostgresProxy.start(Number(url.port), new Random(1), judge);
    url.port = proxy.port.toString();
    return {
        url: url.href,
        loseCommitOf: (statement) => new Promise((resolve) => {
            plan = { statement, lose: resolve };
        }),
        stop: () => proxy.stop(),
    };
}
