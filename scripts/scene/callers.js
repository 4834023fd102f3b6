import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
const GIVE_UP = 60_000;
/** Makes a call. It never throws: an attacker, and an app that is attacked, count what came back. */
export function callFrom(url, call) {
    const { method, path, token, headers = {}, body, from = "127.0.0.1", timeout = GIVE_UP } = call;
    const started = performance.now();
    return new Promise((resolve) => {
        const end = (status, text) => {
            clearTimeout(timer);
            resolve({ status, text, took: performance.now() - started });
        };
        const sent = request(url + path, { method, agent: false, localAddress: from, headers: { ...jsonHeaders(token, body), ...headers } }, (response) => {
            const chunks = [];
            response.on("data", (chunk) => chunks.push(chunk));
            response.on("end", () => {
                end(response.statusCode ?? null, Buffer.concat(chunks).toString());
            });
            response.on("error", () => {
                end(null, "the connection was closed");
            });
        });
        const timer = setTimeout(() => {
            sent.destroy();
            end(null, "no answer in time");
        }, timeout);
        sent.on("error", () => {
            end(null, "the connection was closed");
        });
        sent.end(body);
    });
}
function jsonHeaders(token, body) {
    return {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body).toString() }),
    };
}
/** Connections that stay open: callers that send or read slowly, or not at all. */
export class OpenCallers {
    #url;
    #sockets = new Set();
    /** Connections that the service has closed. */
    closed = 0;
    /** By status, the answers that have begun to arrive. */
    answers = new Map();
    constructor(url) {
        this.#url = url;
    }
    get open() {
        return this.#sockets.size;
    }
    /** @param headers the lines after the first. @returns the beginning of an HTTP call with a body of `length` bytes. */
    static head(method, path, headers) {
        const lines = Object.entries({ Host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
        return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
    }
    /**
     * Opens a connection and sends the beginning of a call. The caller reads the first bytes of the answer, and no more.
     * @param parts are sent one after the other. @returns null when the service refuses the connection.
     */
    async begin(parts, from = "127.0.0.1") {
        const { hostname, port } = new URL(this.#url);
        const socket = connect({ port: Number(port), host: hostname, localAddress: from });
        // The service may close it: that is one of its ways to stay small.
        socket.on("error", () => undefined);
        socket.once("close", () => {
            if (this.#sockets.delete(socket))
                this.closed += 1;
        });
        socket.once("data", (chunk) => {
            const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1"))?.[1] ?? "other";
            this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
            socket.pause();
        });
        try {
            await once(socket, "connect");
        }
        catch {
            return null;
        }
        this.#sockets.add(socket);
        for (const part of parts)
            socket.write(part);
        return socket;
    }
    destroy() {
        for (const socket of this.#sockets)
            socket.destroy();
        this.#sockets.clear();
    }
}
/** Takes `bytes`, waits for `every` milliseconds, and so on. */
export function readSlowly(socket, bytes, every) {
    let taken = 0;
    socket.on("data", (chunk) => {
        taken += chunk.length;
        if (taken < bytes)
            return;
        taken = 0;
        socket.pause();
        setTimeout(() => socket.resume(), every).unref();
    });
}
