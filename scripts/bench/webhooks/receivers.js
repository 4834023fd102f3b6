import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { Webhook } from "standardwebhooks";
import { listenOnLoopback } from "../../scene/loopback.ts";
import { monotonicNow } from "./receivers-process.ts";
/**
 * Receivers of webhooks that answer at once, and a dead one: it accepts connections and never answers. While calls arrive,
 * they only keep them. They verify them on request. Argument: how many answer.
 */
const count = Number(process.argv[2]);
let calls = [];
let expected = { warmUp: 0, total: Infinity };
let warmAt = 0;
const silent = new Set();
function arrived(call) {
    calls.push(call);
    if (calls.length === expected.warmUp)
        warmAt = monotonicNow();
    if (calls.length === expected.total)
        process.send?.({ warmAt, lastAt: monotonicNow() });
}
async function listen(server) {
    return `${(await listenOnLoopback(server)).url}/hook`;
}
function receiver(index) {
    return createServer((request, response) => {
        const chunks = [];
        request.on("data", (chunk) => chunks.push(chunk));
        request.on("end", () => {
            response.writeHead(204).end();
            arrived({ receiver: index, headers: request.headers, text: Buffer.concat(chunks).toString() });
        });
    });
}
function verify(secrets) {
    const verifiers = secrets.map((secret) => new Webhook(secret));
    const isGood = ({ receiver: index, headers, text }) => {
        try {
            verifiers[index]?.verify(text, headers);
            return JSON.parse(text).id === headers["webhook-id"];
        }
        catch {
            return false;
        }
    };
    return {
        calls: calls.length,
        distinct: new Set(calls.map(({ headers }) => headers["webhook-id"])).size,
        badSignatures: calls.filter((call) => !isGood(call)).length,
    };
}
const dead = createTcpServer((socket) => {
    silent.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => silent.delete(socket));
    socket.resume();
});
process.on("message", (order) => {
    if ("expect" in order) {
        calls = [];
        expected = order.expect;
        process.send?.({});
    }
    else if ("verify" in order) {
        process.send?.(verify(order.verify));
    }
    else {
        for (const socket of silent)
            socket.destroy();
        process.send?.({});
    }
});
process.on("disconnect", () => process.exit());
const urls = await Promise.all(Array.from({ length: count }, (_, index) => listen(receiver(index))));
process.send?.({ urls, deadUrl: await listen(dead) });
